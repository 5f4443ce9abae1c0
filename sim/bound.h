#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "sim/costs/model.h"

namespace gnomon::sim {

/// A lower bound of the epoch that holds for every schedule (systems.md §4, LB): the minimum over n_c, the
/// number of batches on the CPU route, of the busiest resource's work. `route` restricts n_c to n (cpu) or 0
/// (device). CPU workers share the cores, with all other work on a host device. Stages count with their times
/// alone, as measured speed-ups beside a neighbour are ignored (profiles::Contention). If each batch has
/// costs of its own (MachineModel::costs_of), the bound also holds for schedules that know them in advance;
/// as real schedules do not, it is then a few percent looser than the bound of the mean costs.
double lower_bound_s(const MachineModel& model, plan::Route route, std::int64_t batches);

/// The same bound for a plan on one or more devices. It also includes the plan's other stages on devices,
/// disk and links, and the assignment of stages to devices.
double lower_bound_s(const MachineModel& model, const plan::Plan& plan, std::int64_t batches);

}  // namespace gnomon::sim
