#include "profiles/measure/probe.h"

#include <algorithm>

#include "base/median.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {
namespace {

/// Work a second of one visit.
double visit(const Probe& probe, double visit_s) {
  probe.run();
  std::int64_t runs = 0;
  const Stopwatch watch;
  double seconds = 0;
  do {
    probe.run();
    ++runs;
    seconds = watch.seconds();
  } while (seconds < visit_s || seconds <= 0);
  return probe.count * static_cast<double>(runs) / seconds;
}

Speed speed_of(const Probe& probe, const Series& series, const StopRule& rule) {
  Speed speed = probe.what;
  speed.per_s = base::median(series.samples());
  speed.samples = series.count();
  speed.converged = rule.converged(series);
  if (series.count() > 1) {
    speed.deviation = series.deviation() / speed.per_s;
    speed.interval = series.interval() / speed.per_s;
  }
  return speed;
}

}  // namespace

std::vector<Speed> measure_speeds(const std::vector<Probe>& probes, const ProbeOptions& options) {
  const StopRule rule{
      .asked_interval = options.asked_interval, .time_limit_s = options.time_limit_s, .least_samples = 10};
  std::vector<Series> series(probes.size());
  const Stopwatch watch;
  bool is_done = false;
  for (bool is_first = true; !is_done; is_first = false) {
    is_done = true;
    for (std::size_t i = 0; i < probes.size(); ++i) {
      throw_if_stopped(options.stop);
      const bool is_late = !is_first && watch.seconds() >= options.time_limit_s;
      if (!is_late && !rule.converged(series[i])) {
        series[i].add(visit(probes[i], options.visit_s));
        is_done = false;
      }
      base::report(options.progress, "measuring speeds",
                   static_cast<std::int64_t>(1e3 * std::min(watch.seconds(), options.time_limit_s)),
                   static_cast<std::int64_t>(1e3 * options.time_limit_s));
    }
  }
  std::vector<Speed> speeds;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    speeds.push_back(speed_of(probes[i], series[i], rule));
  }
  return speeds;
}

}  // namespace gnomon::profiles
