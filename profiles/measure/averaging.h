#pragma once

#include <cstdint>

#include "plan/job.h"

namespace gnomon::profiles {

/// What several devices on the host's cores spend on a step beside their gradients, in seconds.
struct AveragingTimes {
  double update_s = 0;  ///< of the weights, by one optimiser
  double average_s =
      0;  ///< that each device after the first adds: its gradients to the sum, the weights to it
};

/// Measures a model of the job, for features of so many columns and so many classes. Takes about
/// `time_limit_s`, and at least three steps.
AveragingTimes measure_averaging(const plan::Job& job, std::int64_t columns, std::int64_t classes,
                                 double time_limit_s);

}  // namespace gnomon::profiles
