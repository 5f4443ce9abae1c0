#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"
#include "profiles/more_cores.h"
#include "sim/prediction.h"

namespace gnomon::tuner {

/// The chain from counts of operations to the epoch, one line each: counts over speeds of each stage that the
/// plan uses, beside its measured time; speed-ups with their beliefs; the stages of a mini-batch; the epoch.
/// `plan` is resolved, `measured` the machine on which the profile was measured.
std::vector<std::string> explanation(const profiles::Extended& profile, const profiles::MeasuredOn& measured,
                                     const plan::Plan& plan, const sim::Prediction& prediction);

}  // namespace gnomon::tuner
