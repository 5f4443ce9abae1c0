#pragma once

#include <limits>

#include "profiles/profile.h"
#include "sim/prediction.h"

namespace gnomon::tuner {

/// What an epoch may take at most beside time.
struct RunningLimits {
  double energy_j = std::numeric_limits<double>::infinity();
  double price = std::numeric_limits<double>::infinity();
  /// Mini-batches of that epoch; predictions of others count in proportion.
  double batches = 1;
};

/// Throws InputError where a limit is of something that the profile does not tell.
void check(const RunningLimits& limits, const profiles::Profile& profile);

/// How much of the limits an epoch of `batches` mini-batches takes: over 1 where it is too much.
double share_of_limits(const RunningLimits& limits, const sim::EpochUse& use, double batches);

}  // namespace gnomon::tuner
