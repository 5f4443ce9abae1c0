#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::tuner {

/// Returns a prediction's assumptions beyond the measurements, one text each: "more workers than measured
/// (2): …". `profile` is the profile on which the resolved plan was predicted, `measured` the machine on
/// which its times were measured. Empty if everything was measured.
std::vector<std::string> extrapolations(const profiles::Profile& profile, const plan::Cores& measured,
                                        const plan::Plan& plan);

}  // namespace gnomon::tuner
