#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "schedule/machine.h"
#include "sim/prediction.h"

namespace gnomon::tuner {

/// The first so many batches of an epoch, or any others, trained for real by one plan on an idle machine.
struct RealRun {
  plan::Plan plan;  ///< resolved
  std::int64_t batches = 0;
  std::vector<schedule::StageSpan> timeline;
};

/// How far stages in real runs are from what the simulator says of the same runs, contention included: for
/// each stage that ran, all its time over all its predicted time. As the ratios change what runs beside what,
/// they are applied and the runs are simulated again until the rest is under a thousandth. The standard error
/// of a ratio is that of a quotient of means, by batches or by runs, whichever is larger: batches of one run
/// are not independent. Corrections that the profile already has do not matter; stages that ran for fewer
/// than two batches get none.
profiles::Corrections corrections_by(const std::vector<RealRun>& runs, const profiles::Profile& profile,
                                     sim::Simulator& simulator);

}  // namespace gnomon::tuner
