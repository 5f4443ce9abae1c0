#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "sim/costs/model.h"
#include "sim/prediction.h"

namespace gnomon::sim {

/// Computes an epoch by arithmetic, without SimGrid, to rank many plans. It agrees with Simulator::run within
/// 0.1 % and takes at most a tenth of its time. The epoch is simulated until its schedule becomes periodic,
/// and the remaining periods are extrapolated; a schedule without a period is simulated to the end. Blocked
/// times are scaled with the epoch. Throws invalid_argument if `model` has different costs for each batch.
Prediction run_quickly(const plan::Plan& plan, const MachineModel& model, std::int64_t batches);

}  // namespace gnomon::sim
