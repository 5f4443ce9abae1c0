#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "sim/costs/model.h"
#include "sim/prediction.h"

namespace gnomon::sim {

/// An epoch by arithmetic, without SimGrid, for ranking many plans. It agrees with Simulator::run within
/// 0.1 % and takes a tenth of its time or less. The epoch is followed until its schedule repeats itself, and
/// the remaining periods are added; a schedule without a period is followed to its end. Blocked times are
/// scaled with the epoch. Throws invalid_argument if `model` has different costs for each batch.
Prediction run_quickly(const plan::Plan& plan, const MachineModel& model, std::int64_t batches);

}  // namespace gnomon::sim
