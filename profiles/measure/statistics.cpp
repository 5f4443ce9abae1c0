#include "profiles/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/median.h"
#include "base/student_t.h"

namespace gnomon::profiles {

namespace {

constexpr std::size_t full_batches = 20;

/// Half width of the 95 % interval of the mean of independent values: n of them, `squares` the sum of their
/// squared distances from their mean.
double independent_interval(std::int64_t n, double squares) {
  if (n < 2) {
    return std::numeric_limits<double>::infinity();
  }
  const auto count = static_cast<double>(n);
  return base::student_t_975(n - 1) * std::sqrt(squares / (count - 1) / count);
}

}  // namespace

void Series::add(double sample) {
  samples_.push_back(sample);
  const double distance = sample - mean_;
  mean_ += distance / static_cast<double>(samples_.size());
  squares_ += distance * (sample - mean_);

  open_sum_ += sample;
  if (++open_count_ < batch_length_) {
    return;
  }
  batch_means_.push_back(open_sum_ / static_cast<double>(open_count_));
  open_sum_ = 0;
  open_count_ = 0;
  if (batch_means_.size() == full_batches) {
    for (std::size_t i = 0; i < full_batches / 2; ++i) {
      batch_means_[i] = (batch_means_[2 * i] + batch_means_[2 * i + 1]) / 2;
    }
    batch_means_.resize(full_batches / 2);
    batch_length_ *= 2;
  }
}

double Series::median_of_means(std::int64_t length) const {
  constexpr std::int64_t least_runs = 10;
  if (count() < least_runs) {
    return samples_.empty() ? 0 : base::median(samples_);
  }
  const auto run = std::clamp<std::int64_t>(length, 1, count() / least_runs);
  std::vector<double> means;
  for (auto first = samples_.begin(); samples_.end() - first >= run; first += run) {
    means.push_back(std::accumulate(first, first + run, 0.0) / static_cast<double>(run));
  }
  return base::median(means);
}

double Series::deviation() const {
  return samples_.size() < 2 ? 0 : std::sqrt(squares_ / static_cast<double>(samples_.size() - 1));
}

double Series::percentile(double probability) const {
  if (samples_.empty()) {
    return 0;
  }
  auto sorted = samples_;
  std::sort(sorted.begin(), sorted.end());
  const double position = probability * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double Series::batch_means_interval() const {
  double sum = 0;
  for (const double mean : batch_means_) {
    sum += mean;
  }
  const auto count = static_cast<std::int64_t>(batch_means_.size());
  double squares = 0;
  for (const double mean : batch_means_) {
    squares += std::pow(mean - sum / static_cast<double>(count), 2);
  }
  return independent_interval(count, squares);
}

double Series::interval() const {
  return std::max(independent_interval(count(), squares_), batch_means_interval());
}

StageTime Series::stage_time(bool converged) const {
  StageTime time;
  time.mean_s = mean();
  time.deviation_s = deviation();
  time.p5_s = percentile(0.05);
  time.p50_s = percentile(0.5);
  time.p95_s = percentile(0.95);
  time.interval_s = count() < 2 ? mean() : interval();
  time.samples = count();
  time.converged = converged;
  return time;
}

bool StopRule::converged(const Series& series) const {
  return series.count() >= min_samples && series.relative_interval() <= asked_interval;
}

bool StopRule::finished(const Series& series, double elapsed_s) const {
  return converged(series) || series.count() >= max_samples ||
         (series.count() > 0 && elapsed_s >= time_limit_s);
}

StageTime measure_until(const StopRule& rule, const std::function<double()>& sample) {
  const Stopwatch watch;
  Series series;
  while (!rule.finished(series, watch.seconds())) {
    series.add(sample());
  }
  return series.stage_time(rule.converged(series));
}

}  // namespace gnomon::profiles
