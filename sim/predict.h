#pragma once

#include <cstdint>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/prediction.h"
#include "sim/simulator.h"

namespace gnomon::sim {

/// Resolves the plan on the profile's machine (plan::resolve), including the default number of sampling
/// devices of a factored plan. Throws InputError.
plan::Plan resolve_on(const profiles::Profile& profile, const plan::Plan& plan);

/// Resolves the plan on the profile's machine, models it (with spread) and simulates one epoch. For a plan
/// that does not fit in memory only the memory is predicted, and epoch_s is infinite. Throws InputError.
Prediction predict(Simulator& simulator, const profiles::Profile& profile, const plan::Plan& plan,
                   bool with_timeline = false, std::uint64_t seed = 0);

/// predict() by run_quickly(): every batch costs the mean.
Prediction predict_quickly(const profiles::Profile& profile, const plan::Plan& plan);

}  // namespace gnomon::sim
