#pragma once

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/costs/model.h"

namespace gnomon::sim {

/// Adds the average of gradients to the costs of a resolved plan of several devices. A ring all-reduce: each
/// of D devices sends and receives 2 (D-1)/D of the gradients, over the links between devices if these
/// connect all of them, otherwise over the links to the host, which several devices may share. Devices on the
/// host's cores leave summing the gradients and the update to one of them. Throws InputError if the link's
/// bandwidth is needed and unknown.
void add_all_reduce(StageCosts& costs, const profiles::Profile& profile, const plan::Plan& plan);

}  // namespace gnomon::sim
