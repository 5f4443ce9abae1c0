#pragma once

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/prediction.h"

namespace gnomon::sim {

/// Of a resolved plan's predicted epoch: the idle machine draws all along, each core and device more while it
/// is busy. A core that waits for memory counts as one that computes.
EpochUse use_of(const profiles::Profile& profile, const plan::Plan& plan, const Prediction& prediction);

}  // namespace gnomon::sim
