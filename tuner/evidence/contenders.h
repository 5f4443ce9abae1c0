#pragma once

#include <cstddef>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "tuner/tuning.h"

namespace gnomon::tuner {

/// The plans that may be the fastest of those that `options` allow, given the profile's beliefs: the presets,
/// the best that a search finds at the medians, and those that are better where numbers that are uncertain
/// are better or worse than believed by two standard deviations (each group of quantities by itself, and all
/// are better). Those are left out that are slower than the fastest by all of these. Resolved; at most
/// `max_plans`, those that come closest to the fastest first. Empty if no plan is allowed and fits.
std::vector<plan::Plan> contenders(const profiles::Profile& profile, const TuningOptions& options,
                                   std::size_t max_plans = 12);

}  // namespace gnomon::tuner
