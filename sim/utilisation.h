#pragma once

#include <cstdint>

#include "schedule/epoch_log.h"
#include "sim/costs/model.h"
#include "sim/hardware/simulated_machine.h"
#include "sim/prediction.h"

namespace gnomon::sim {

/// An estimate of the epoch's time without overlap.
double scale_s(const MachineModel& model, std::int64_t batches);

/// The times and counts of an epoch; its utilisations are not set yet.
Prediction times_of(const schedule::EpochLog& log);

/// Sets the utilisations and bound_by of a prediction whose times and counts are set.
void fill_utilisation(Prediction& prediction, const Totals& totals, const MachineModel& model);

}  // namespace gnomon::sim
