#pragma once

#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::tuner {

/// Returns the plans that may replace `plan` during a training: runnable presets and variants that end with
/// the same bits, keep the placement of data and caches, and differ in schedule, route, workers or threads.
/// Resolved; `plan` is the first.
std::vector<plan::Plan> plans_to_change_to(const plan::Plan& plan, const plan::Cores& cores);

/// Returns the plans that are worth measuring on a profile: `current`, then the fastest predicted plan of
/// each schedule and route, and the fastest overall; at most five.
std::vector<plan::Plan> promising_plans(const profiles::Profile& profile,
                                        const std::vector<plan::Plan>& plans, const plan::Plan& current);

}  // namespace gnomon::tuner
