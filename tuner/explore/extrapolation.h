#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::tuner {

/// What a prediction assumes beyond what was measured, one text for each assumption: "more workers than
/// measured (2): …". `profile` is what the resolved plan was predicted on, `measured` the machine on which
/// its times were measured. Empty if everything was measured.
std::vector<std::string> extrapolations(const profiles::Profile& profile, const plan::Cores& measured,
                                        const plan::Plan& plan);

}  // namespace gnomon::tuner
