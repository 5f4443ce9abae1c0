#pragma once

#include "profiles/measure/rounds.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// Sets what is believed of each quantity of the profile (profiles/beliefs.h), given what rounds measured:
/// medians of few rounds are drawn towards what was believed before, by the precision of both, and numbers
/// that no round measured are set to what was believed. Stage times keep their measured values.
void set_beliefs(Profile& profile, const Measured& measured);

}  // namespace gnomon::profiles
