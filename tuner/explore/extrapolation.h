#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"
#include "profiles/catalog.h"
#include "profiles/more_cores.h"

namespace gnomon::tuner {

/// One thing that a prediction rests on, other than measurements of the job on its machine.
struct Reliance {
  profiles::RestsOn on = profiles::RestsOn::assumed;
  std::string why;  ///< "more workers than measured (2): …"
};

/// A prediction's assumptions beyond the measurements. `profile` is the profile on which the resolved plan
/// was predicted, `measured` the machine on which its times were measured. Empty if everything was measured.
std::vector<Reliance> extrapolations(const profiles::Extended& profile, const plan::Cores& measured,
                                     const plan::Plan& plan);

/// The scalings of the stages that a plan uses, of a profile that was moved to another machine.
std::vector<Reliance> reliances_on(const std::vector<profiles::StageScaling>& scalings,
                                   const profiles::Profile& profile, const plan::Plan& plan);

/// The weakest of these, with all reasons that are as weak; `measured` without any.
Reliance weakest(const std::vector<Reliance>& reliances);

}  // namespace gnomon::tuner
