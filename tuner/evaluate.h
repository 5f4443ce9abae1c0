#pragma once

#include <functional>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/prediction.h"

namespace gnomon::tuner {

/// Predicts plans on a profile, in any order or at once: one prediction for each plan.
using EvaluateOn =
    std::function<std::vector<sim::Prediction>(const profiles::Profile&, const std::vector<plan::Plan>&)>;

/// Predicts by the simulator, in up to `processes` forked processes. Results do not depend on their number,
/// to the last bit. No thread but the caller's may run.
EvaluateOn simulate_in(int processes);

}  // namespace gnomon::tuner
