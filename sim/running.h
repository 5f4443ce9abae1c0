#pragma once

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/prediction.h"

namespace gnomon::sim {

/// Returns energy and price of a resolved plan's predicted epoch: the idle machine draws power all the time,
/// each core and device more while it is busy. A core that waits for memory counts as busy. If the idle
/// machine's power is unknown, the energy is what the epoch adds to it.
EpochUse use_of(const profiles::Profile& profile, const plan::Plan& plan, const Prediction& prediction);

}  // namespace gnomon::sim
