#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiles/catalog.h"
#include "profiles/profile.h"
#include "sim/prediction.h"
#include "tuner/tuning.h"

namespace gnomon::apps {

/// The compared plans as a table, the chosen plan first, and the other results.
std::string tuning_text(const tuner::Tuning& tuning);

/// How a profile was scaled to another machine: "machine aws-g5.2xlarge: train x1.56 (…); …"; empty if it was
/// not.
std::string moved_text(const std::string& machine, const std::vector<profiles::StageScaling>& scalings);

/// The number of evaluations of each fidelity: bounds, estimates, simulated epochs, real runs.
std::string fidelities_text(const tuner::Tuning& tuning, int real_runs);

/// "corrected by real runs: CPU preparation x 1.05 (+- 0.01) ..."; empty without corrections.
std::string corrections_text(const std::optional<profiles::Corrections>& corrections);

/// "corrected by earlier runs on this machine: train (held-out error 4 % instead of 6 %) ..."; empty without.
std::string learned_text(const std::optional<profiles::LearnedCorrections>& learned);

/// The relative excess of an epoch over its lower bound, as in "3.2 %".
std::string over_bound(const sim::Prediction& prediction);

}  // namespace gnomon::apps
