#include "profiles/speed_ratio.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "profiles/stage_work.h"

namespace gnomon::profiles {
namespace {

/// Derivatives of the logarithm of a time with respect to the logarithms of a machine's speeds, by index.
using Gradient = std::map<std::size_t, double>;

void add(Gradient& sum, const std::map<std::size_t, double>& terms, double factor) {
  for (const auto& [place, term] : terms) {
    sum[place] += factor * term;
  }
}

/// One kind of work on both machines.
struct Term {
  Work work;
  double from_s = 0, to_s = 0;
  std::map<std::size_t, double> from_weights, to_weights;
};

struct Cost {
  double seconds = 0;
  std::map<std::size_t, double> weights;
};

std::optional<Cost> cost_on(const Executor& machine, const Amount& amount) {
  const auto own = machine.is_gpu ? on_gpu(amount) : std::optional(amount);
  const auto rate = own ? rate_at(machine.speeds, own->work, own->size) : std::nullopt;
  if (!rate) {
    return std::nullopt;
  }
  return Cost{own->count / rate->per_s, rate->weights};
}

/// A part on both machines.
struct Part {
  double seconds = 0;
  std::vector<Term> terms{};
  double from_s = 0, to_s = 0;  ///< of all terms
  double left_out_s = 0;        ///< of work for which only the measured machine has a speed

  double factor() const { return to_s / from_s; }
};

Part part_of(const MeasuredPart& measured, const Executor& from, const Executor& to,
             std::vector<Work>& left_out) {
  Part part{.seconds = measured.seconds};
  for (const Amount& amount : measured.work) {
    auto before = cost_on(from, amount);
    auto after = cost_on(to, amount);
    if (before && after) {
      part.from_s += before->seconds;
      part.to_s += after->seconds;
      part.terms.push_back({amount.work, before->seconds, after->seconds, std::move(before->weights),
                            std::move(after->weights)});
    } else if (before || after) {
      part.left_out_s += before ? before->seconds : 0;
      if (std::find(left_out.begin(), left_out.end(), amount.work) == left_out.end()) {
        left_out.push_back(amount.work);
      }
    }
  }
  return part;
}

/// The sum of squares of the half widths of both machines' speeds times their derivatives.
double squares_of_speeds(const Gradient& from_gradient, Gradient to_gradient, const Executor& from,
                         const Executor& to) {
  double squares = 0;
  for (const auto& [place, by_from] : from_gradient) {
    const Speed& speed = from.speeds.speeds[place];
    double derivative = by_from;
    for (auto& [other, by_to] : to_gradient) {
      if (to.speeds.speeds[other] == speed) {
        derivative += by_to;
        by_to = 0;
      }
    }
    squares += std::pow(derivative * speed.interval, 2);
  }
  for (const auto& [place, derivative] : to_gradient) {
    squares += std::pow(derivative * to.speeds.speeds[place].interval, 2);
  }
  return squares;
}

double interval_of(const std::vector<Part>& parts, double total_s, const Executor& from, const Executor& to) {
  const double count_interval = std::log(count_uncertainty);
  Gradient from_gradient;
  Gradient to_gradient;
  double squares = 0;
  for (const Part& part : parts) {
    const double share = part.seconds * part.factor() / total_s;
    for (const Term& term : part.terms) {
      const double before = share * term.from_s / part.from_s;
      const double after = share * term.to_s / part.to_s;
      add(from_gradient, term.from_weights, before);
      add(to_gradient, term.to_weights, -after);
      squares += std::pow((after - before) * count_interval, 2);
    }
  }
  return std::sqrt(squares + squares_of_speeds(from_gradient, std::move(to_gradient), from, to));
}

/// The kinds of work by their share of the new time.
std::vector<Work> largest(const std::vector<Part>& parts, double total_s) {
  constexpr double least_share = 0.1;
  std::map<Work, double> seconds;
  for (const Part& part : parts) {
    for (const Term& term : part.terms) {
      seconds[term.work] += part.seconds * term.to_s / part.from_s;
    }
  }
  std::vector<Work> kinds;
  for (const auto& [work, taken_s] : seconds) {
    if (taken_s >= least_share * total_s) {
      kinds.push_back(work);
    }
  }
  std::stable_sort(kinds.begin(), kinds.end(), [&](Work a, Work b) { return seconds[a] > seconds[b]; });
  return kinds;
}

}  // namespace

std::optional<SpeedRatio> speed_ratio(std::span<const MeasuredPart> parts, const Executor& from,
                                      const Executor& to) {
  SpeedRatio ratio;
  std::vector<Part> known;
  double before_s = 0;
  double after_s = 0;
  for (const MeasuredPart& measured : parts) {
    if (measured.seconds <= 0) {
      continue;
    }
    auto part = part_of(measured, from, to, ratio.left_out);
    if (part.from_s <= 0 || part.to_s <= 0 || part.left_out_s > part.from_s) {
      return std::nullopt;
    }
    before_s += part.seconds;
    after_s += part.seconds * part.factor();
    known.push_back(std::move(part));
  }
  if (known.empty()) {
    return std::nullopt;
  }
  ratio.factor = after_s / before_s;
  ratio.interval = interval_of(known, after_s, from, to);
  ratio.by = largest(known, after_s);
  return ratio;
}

std::string text_of(const std::vector<Work>& kinds) {
  std::string text;
  for (const Work kind : kinds) {
    text += (text.empty() ? "" : ", ") + std::string(base::name_of(kind));
  }
  return text;
}

}  // namespace gnomon::profiles
