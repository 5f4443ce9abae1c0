#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "schedule/machine.h"

namespace gnomon::schedule {

/// What a policy did in one epoch.
struct EpochLog {
  std::vector<std::int64_t> trained;  ///< batches in the order of their updates
  std::int64_t cpu_batches = 0;       ///< how many came by the CPU route
  double begin_s = 0;
  double end_s = 0;             ///< after the last update
  double blocked_on_cpu_s = 0;  ///< time the device had nothing ready and waited for CPU workers
  double blocked_on_device_s =
      0;  ///< time finished CPU batches filled their buffer and waited for the device

  double seconds() const { return end_s - begin_s; }
};

/// Runs batches 0 … batches-1 by the plan's schedule, each exactly once, on a resolved plan (plan::resolve).
/// Returns when all are trained. Throws what Machine::wait_any throws.
EpochLog run_epoch(const plan::Plan& plan, std::int64_t batches, Machine& machine);

}  // namespace gnomon::schedule
