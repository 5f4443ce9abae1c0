#include "profiles/measure/probe.h"

#include <algorithm>
#include <cmath>

#include "base/median.h"
#include "base/student_t.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {
namespace {

/// A probe's samples.
struct Visits {
  Series series;
  double run_s = 0;    ///< of the last visit
  double total_s = 0;  ///< of all visits
};

/// The rate of one visit, in work per second.
double visit(const Probe& probe, Visits& visits, const ProbeOptions& options) {
  const Stopwatch total;
  if (visits.run_s <= options.max_warm_up_s) {
    probe.run();
  }
  std::int64_t runs = 0;
  const Stopwatch watch;
  double seconds = 0;
  do {
    probe.run();
    ++runs;
    seconds = watch.seconds();
  } while (seconds < options.visit_s || seconds <= 0);
  visits.run_s = seconds / static_cast<double>(runs);
  visits.total_s += total.seconds();
  return probe.count * static_cast<double>(runs) / seconds;
}

/// Half width of the 95 % confidence interval of the median over it, from the median absolute deviation,
/// which is robust against bursts of other work; both assume normal samples. Requires two samples.
double median_interval(const Series& series) {
  constexpr double deviation_over_median_distance = 1.4826;
  constexpr double error_of_median_over_mean = 1.2533;  // sqrt(pi / 2)
  const double median = base::median(series.samples());
  std::vector<double> distances;
  for (const double sample : series.samples()) {
    distances.push_back(std::abs(sample - median));
  }
  return base::student_t_975(series.count() - 1) * error_of_median_over_mean *
         deviation_over_median_distance * base::median(distances) /
         std::sqrt(static_cast<double>(series.count())) / median;
}

bool is_sure(const Series& series, const ProbeOptions& options) {
  constexpr std::int64_t min_samples = 10;
  return series.count() >= min_samples && median_interval(series) <= options.asked_interval;
}

Speed speed_of(const Probe& probe, const Series& series, const ProbeOptions& options) {
  Speed speed = probe.what;
  speed.per_s = base::median(series.samples());
  speed.samples = series.count();
  speed.deviation = series.deviation() / speed.per_s;
  speed.interval = median_interval(series);
  speed.converged = is_sure(series, options);
  return speed;
}

}  // namespace

std::vector<Speed> measure_speeds(const std::vector<Probe>& probes, const ProbeOptions& options) {
  std::vector<Visits> visits(probes.size());
  const double share_s = options.time_limit_s / static_cast<double>(probes.size());
  const Stopwatch watch;
  bool is_done = false;
  for (int round = 0; !is_done; ++round) {
    is_done = true;
    for (std::size_t i = 0; i < probes.size(); ++i) {
      throw_if_stopped(options.stop);
      const bool is_spent =
          watch.seconds() >= options.time_limit_s || (options.equal_time && visits[i].total_s >= share_s);
      const bool is_late = round >= options.min_visits && is_spent;
      if (!is_late && !is_sure(visits[i].series, options)) {
        visits[i].series.add(visit(probes[i], visits[i], options));
        is_done = false;
      }
      base::report(options.progress, "measuring speeds",
                   static_cast<std::int64_t>(1e3 * std::min(watch.seconds(), options.time_limit_s)),
                   static_cast<std::int64_t>(1e3 * options.time_limit_s));
    }
  }
  std::vector<Speed> speeds;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    speeds.push_back(speed_of(probes[i], visits[i].series, options));
  }
  return speeds;
}

}  // namespace gnomon::profiles
