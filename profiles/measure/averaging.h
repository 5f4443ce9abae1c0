#pragma once

#include <cstdint>

#include "plan/job.h"

namespace gnomon::profiles {

/// Time per step, in seconds, that several devices on the host's cores spend in addition to computing
/// gradients.
struct AveragingTimes {
  double update_s = 0;  ///< of the weights, by one optimiser
  /// For each device after the first: summing its gradients, and copying the weights to it.
  double average_s = 0;
};

/// Measures a model of the job with `columns` features and `classes` classes. Takes about `time_limit_s`, and
/// at least three steps.
AveragingTimes measure_averaging(const plan::Job& job, std::int64_t columns, std::int64_t classes,
                                 double time_limit_s);

}  // namespace gnomon::profiles
