#pragma once

#include <optional>
#include <string>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// Returns the half width of the 95 % confidence interval of a plan's predicted epoch in seconds, from those
/// of the measured stage times: each is moved by its own, and the changes of the computed epoch
/// (predict_quickly) are added as of independent errors. It says how precisely the profile was measured, not
/// how right the simulator is, which Profile::prediction_error does. None if the profile has no intervals, as
/// a paper's has none, or if the plan does not fit in memory. Throws InputError.
std::optional<double> epoch_interval_s(const profiles::Profile& profile, const plan::Plan& plan);

/// Throws InputError, with the stage and how to measure it again, if predictions from a stage time are
/// worthless: the half width of its 95 % confidence interval is at least twice the time itself. `where` names
/// the profile.
void check_precision(const profiles::Profile& profile, const std::string& where);

}  // namespace gnomon::sim
