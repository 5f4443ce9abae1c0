#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "schedule/epoch_log.h"
#include "schedule/machine.h"

namespace gnomon::schedule {

/// Runs batches 0 … batches-1, each exactly once, by the policy of a resolved plan's schedule
/// (plan::resolve). Returns when all are trained. Throws what Machine::wait_any throws.
EpochLog run_epoch(const plan::Plan& plan, std::int64_t batches, Machine& machine);

/// Whether run_epoch averages the gradients of several devices, by Stage::all_reduce after each step; a
/// resolved plan's train stage then only computes gradients.
bool averages_gradients(const plan::Plan& plan);

/// The first device that trains; those before it only sample.
int first_trainer(const plan::Plan& plan);

}  // namespace gnomon::schedule
