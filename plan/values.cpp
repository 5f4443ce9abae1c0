#include "plan/values.h"

#include <algorithm>
#include <cmath>

namespace gnomon::plan {
namespace {

/// Upper end of a searched range that the field table leaves (almost) open.
constexpr double max_step = 64;

std::vector<double> values_of_integer(const Rule& rule, std::int64_t batches) {
  const double end = std::min(rule.field.range.max, max_step);
  return log_steps(rule.field.range.min,
                   rule.search.counts_batches ? std::min(end, static_cast<double>(batches)) : end);
}

/// Tenths of a share; powers of two of anything larger.
std::vector<double> values_of_real(const base::Range& range) {
  std::vector<double> values;
  if (range.max > 1) {
    for (double value = std::max(1.0, range.min); value <= std::min(range.max, max_step); value *= 2) {
      values.push_back(value);
    }
    return values;
  }
  for (int tenth = 0; tenth <= 10; ++tenth) {
    if (const double value = tenth / 10.0; value >= range.min && value <= range.max) {
      values.push_back(value);
    }
  }
  return values;
}

std::vector<double> values_of_category(const Rule& rule, const Cores& cores) {
  std::vector<double> values;
  const auto& names = rule.field.names;
  for (std::size_t position = 0; position < names.size(); ++position) {
    if (rule.search.leaves_out == nullptr || !rule.search.leaves_out(names[position], cores)) {
      values.push_back(static_cast<double>(position));
    }
  }
  return values;
}

}  // namespace

std::vector<double> log_steps(double min, double max) {
  std::vector<double> values;
  for (double value = std::max(1.0, min); value <= max; value *= 2) {
    values.push_back(value);
    if (const double between = value * 3 / 2; between == std::floor(between) && between <= max) {
      values.push_back(between);
    }
  }
  if (min <= 0) {
    values.insert(values.begin(), 0);
  }
  return values;
}

std::vector<int> worker_choices(int cores) {
  std::vector<int> workers;
  for (int count = 1; count < cores; count += std::max(1, count / 8)) {
    workers.push_back(count);
  }
  workers.push_back(cores);
  return workers;
}

std::vector<int> thread_choices(const Cores& cores) {
  if (!runs_on_cores(cores.device)) {
    return {1};
  }
  std::vector<int> threads;
  for (int count = 1; count < cores.count; count *= 2) {
    threads.push_back(count);
  }
  threads.push_back(cores.count);
  return threads;
}

std::vector<double> values_to_try(const Rule& rule, const Cores& cores, std::int64_t batches) {
  if (rule.search.values != nullptr) {
    return rule.search.values(cores);
  }
  switch (rule.field.kind) {
    case FieldKind::integer:
      return values_of_integer(rule, batches);
    case FieldKind::real:
      return values_of_real(rule.field.range);
    case FieldKind::category:
      break;
  }
  return values_of_category(rule, cores);
}

}  // namespace gnomon::plan
