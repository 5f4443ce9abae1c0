#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "base/progress.h"
#include "profiles/speeds.h"

namespace gnomon::profiles {

/// One kind of work that can be done again and again.
struct Probe {
  Speed what;                   ///< without what is measured
  double count = 0;             ///< of work in a run, in the unit of the kind's rates without "/s"
  std::function<void()> run{};  ///< does the work, on all threads, and returns when it is done
};

struct ProbeOptions {
  double asked_interval = 0.02;  ///< half width of the 95 % confidence intervals, relative to the rate
  double time_limit_s = 30;      ///< of all probes; each is visited five times in any case
  double visit_s = 0.01;         ///< of one sample, after a run that warms up
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
  base::Progress progress = {};
};

/// Visits the probes in turns, so that a drift of the machine counts for all of them and shows in their
/// spread. A visit runs a probe once to warm up caches, then until visit_s is over, which is one sample. A
/// probe is done when its interval is as narrow as asked, after ten samples or more; all end at the time
/// limit. Throws Interrupted.
std::vector<Speed> measure_speeds(const std::vector<Probe>& probes, const ProbeOptions& options);

}  // namespace gnomon::profiles
