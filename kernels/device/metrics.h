#pragma once

#include <cstdint>

#include "kernels/device/executor.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// Sums of training metrics in device memory.
struct MetricSums {
  double loss = 0;           ///< cross-entropy, summed over the seeds
  std::int64_t correct = 0;  ///< number of seeds whose largest logit is that of their label
};

/// The outputs of a training step: logits is seeds x classes, row-major.
struct StepOutputs {
  const float* logits = nullptr;
  const std::int64_t* labels = nullptr;
  const float* mean_loss = nullptr;
  std::int64_t seeds = 0;
  std::int64_t classes = 0;
};

/// Adds a step's metrics to `sums`. Of equal logits the first counts as the largest, and NaN is larger than
/// any number.
template <class Executor>
void add_metrics(Executor& executor, const StepOutputs& outputs, MetricSums* sums);

}  // namespace gnomon::kernels::device
