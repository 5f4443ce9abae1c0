#pragma once

#include <atomic>
#include <functional>
#include <limits>
#include <vector>

#include "base/progress.h"
#include "profiles/speeds.h"

namespace gnomon::profiles {

/// A repeatable unit of one kind of work.
struct Probe {
  Speed what;                   ///< the description; measured fields are not set
  double count = 0;             ///< work per run, in the unit of the kind's rates without "/s"
  std::function<void()> run{};  ///< performs the work on all threads; synchronous
};

struct ProbeOptions {
  double asked_interval = 0.02;  ///< half width of the 95 % confidence intervals, relative to the rate
  double time_limit_s = 30;      ///< for all probes; each is visited at least `min_visits` times
  double visit_s = 0.01;         ///< duration of a sample, after a warm-up run
  int min_visits = 5;            ///< at least 2
  /// Probes whose run takes longer are warmed up before their first visit only.
  double max_warm_up_s = std::numeric_limits<double>::infinity();
  /// After `min_visits`, a probe also ends when it has taken its equal share of the time limit, which leaves
  /// more samples to cheap ones.
  bool equal_time = false;
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
  base::Progress progress = {};
};

/// Measures the probes round-robin, so that machine drift affects all of them and shows in their spread. A
/// visit runs a probe once to warm up caches, then for visit_s, which gives one sample. A probe is done when
/// its interval is as narrow as requested, after at least ten samples; all end at the time limit. Throws
/// Interrupted.
std::vector<Speed> measure_speeds(const std::vector<Probe>& probes, const ProbeOptions& options);

}  // namespace gnomon::profiles
