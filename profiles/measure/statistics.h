#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// The clock of every measurement: steady (never set back), in seconds since construction.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  static_assert(Clock::is_steady);
  Clock::time_point begin_ = Clock::now();
};

/// A series of successive samples of one quantity, with estimates of its mean.
///
/// Successive times are correlated (the machine's speed drifts, bursts of other work last for several
/// samples), and then the textbook interval is too narrow. Therefore the interval of *batch means* is
/// computed as well: successive samples are averaged in 10 to 19 batches (Schmeiser, Operations Research
/// 30(3), 1982, advises 10 to 30), whose means are nearly independent once a batch is longer than the
/// correlation; when 20 are full, pairs are merged. interval() is the wider of the two.
class Series {
 public:
  void add(double sample);

  std::int64_t count() const { return static_cast<std::int64_t>(samples_.size()); }
  double mean() const { return mean_; }
  /// The median of the means of successive runs of `length` >= 1 samples, so that bursts of other work only
  /// affect the runs in which they occur. Runs are shortened so that there are at least ten; with fewer
  /// samples, it is their median.
  double median_of_means(std::int64_t length) const;
  /// Standard deviation (n - 1); 0 below two samples.
  double deviation() const;
  /// The sample below which the share `probability` of all lies, linear between order statistics.
  double percentile(double probability) const;
  /// Half width of the 95 % confidence interval of the mean; infinite below two samples.
  double interval() const;
  /// interval() / mean().
  double relative_interval() const { return interval() / mean(); }
  const std::vector<double>& samples() const { return samples_; }

  StageTime stage_time(bool converged) const;

 private:
  double batch_means_interval() const;
  std::vector<double> samples_;
  double mean_ = 0;
  double squares_ = 0;  ///< sum of squared distances from the mean (Welford, Technometrics 4(3), 1962)
  std::vector<double> batch_means_;  ///< of full batches
  std::int64_t batch_length_ = 1;
  double open_sum_ = 0;  ///< of the batch that is not full
  std::int64_t open_count_ = 0;
};

/// When to stop measuring.
struct StopRule {
  double asked_interval = 0.02;  ///< half width over mean
  double time_limit_s = 1;
  std::int64_t min_samples = 20;  ///< minimum number of samples before an interval is trusted
  std::int64_t max_samples = 100'000;

  /// Whether the series has the requested precision.
  bool converged(const Series& series) const;
  bool finished(const Series& series, double elapsed_s) const;
};

/// Calls `sample`, which returns one measured time, until the rule is satisfied. Takes at least one sample,
/// and at least two if time allows.
StageTime measure_until(const StopRule& rule, const std::function<double()>& sample);

}  // namespace gnomon::profiles
