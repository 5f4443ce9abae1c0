#pragma once

#include <limits>

#include "profiles/profile.h"
#include "sim/consumption.h"

namespace gnomon::tuner {

/// The maximum energy and price of an epoch.
struct ConsumptionLimits {
  double energy_j = std::numeric_limits<double>::infinity();
  double price = std::numeric_limits<double>::infinity();
  /// Mini-batches of that epoch; predictions for other numbers are scaled.
  double batches = 1;
};

/// Throws InputError if the profile lacks the numbers required by a limit.
void check(const ConsumptionLimits& limits, const profiles::Profile& profile);

/// The fraction of the limits used by an epoch of `batches` mini-batches; above 1 if it exceeds one of them.
double share_of_limits(const ConsumptionLimits& limits, const sim::Consumption& consumption, double batches);

}  // namespace gnomon::tuner
