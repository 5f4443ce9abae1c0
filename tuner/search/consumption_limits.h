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

/// Throws InputError if a limit is set whose numbers the profile lacks.
void check(const ConsumptionLimits& limits, const profiles::Profile& profile);

/// The share of the limits that an epoch of `batches` mini-batches takes; over 1 if it exceeds one of them.
double share_of_limits(const ConsumptionLimits& limits, const sim::Consumption& consumption, double batches);

}  // namespace gnomon::tuner
