#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "schedule/epoch_log.h"
#include "schedule/machine.h"

namespace gnomon::schedule {

/// Runs batches 0 … batches-1, each exactly once, by the policy of a resolved plan's schedule
/// (plan::resolve). Returns when all are trained. Throws what Machine::wait_any throws.
EpochLog run_epoch(const plan::Plan& plan, std::int64_t batches, Machine& machine);

}  // namespace gnomon::schedule
