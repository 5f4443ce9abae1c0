#pragma once

#include <cstdint>

#include "kernels/dropout_rule.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// Sums of training metrics in device memory.
struct MetricSums {
  double* losses = nullptr;         ///< summed by the seed's position in its mini-batch
  std::int64_t* correct = nullptr;  ///< number of correctly predicted seeds
};

/// What differs from one training step to the next where the launches of a step are recorded once and
/// replayed: kernels read it in device memory, as their arguments stay those of the recording.
struct StepState {
  StepNumber number;
  std::int64_t seeds = 0;  ///< of the mini-batch, which is padded to more
  MetricSums sums;
  float learning_rate = 0;
  float adam_step = 0;  ///< the number of the optimiser's step, from 1
};

}  // namespace gnomon::kernels::device
