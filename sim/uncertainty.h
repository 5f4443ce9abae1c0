#pragma once

#include <optional>
#include <string>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// Returns the half width of the 95 % confidence interval of a plan's predicted epoch in seconds, propagated
/// from the measured stage times: each is varied by its own interval, and the changes of the computed epoch
/// (predict_quickly) are combined as independent errors. It covers the precision of the profile, not the
/// error of the simulator (Profile::prediction_error). None if the profile has no intervals, as those of
/// papers, or if the plan does not fit in memory. Throws InputError.
std::optional<double> epoch_interval_s(const profiles::Profile& profile, const plan::Plan& plan);

/// Throws InputError, with the stage and how to measure it again, if a stage time is too uncertain to predict
/// from: the half width of its 95 % confidence interval is at least twice the time. `where` names the
/// profile.
void check_precision(const profiles::Profile& profile, const std::string& where);

}  // namespace gnomon::sim
