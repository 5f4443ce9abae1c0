#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "schedule/epoch_log.h"
#include "schedule/machine.h"

/// The policies: each runs batches 0 … batches-1 on `machine` by one plan::Schedule and is documented in its
/// source file. schedule::run_epoch chooses among them.
namespace gnomon::schedule {

EpochLog run_sequential(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_on_device(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_pipelined(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_dual_buffer(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_claim_ahead(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_mixed(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_factored(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_super_batch(const plan::Plan& plan, std::int64_t batches, Machine& machine);

}  // namespace gnomon::schedule
