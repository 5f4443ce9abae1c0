#pragma once

#include <vector>

#include "profiles/profile.h"
#include "sim/simulator.h"
#include "tuner/verify/correction.h"

namespace gnomon::tuner {

/// Adds the corrections that this user's earlier runs on this machine teach (learned_corrections) to a
/// profile that was measured here.
void learn_from_history(profiles::Profile& profile);

/// Adds real runs of the profile's job on this machine to the user's history. Nothing is added if the profile
/// is of another processor, or if the history cannot be written, which costs later predictions only.
void add_to_history(const std::vector<RealRun>& runs, const profiles::Profile& profile,
                    sim::Simulator& simulator);

}  // namespace gnomon::tuner
