#pragma once

#include <cstdint>

#include "kernels/device/executor.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// The outputs of a training step: logits is seeds x classes, row-major; labels are in 0 … classes - 1.
struct StepOutputs {
  const float* logits = nullptr;
  const std::int64_t* labels = nullptr;
  std::int64_t seeds = 0;
  std::int64_t classes = 0;
};

/// Sums of training metrics in device memory.
struct MetricSums {
  double* losses = nullptr;         ///< cross-entropy, summed by the seed's position in its mini-batch
  std::int64_t* correct = nullptr;  ///< number of seeds whose largest logit is that of their label
};

/// Writes the gradient of the mean cross-entropy over the seeds with respect to the logits (seeds x classes),
/// and adds the step's metrics to `sums`. Of equal logits the first counts as the largest, and NaN is larger
/// than any number. Asynchronous; the same bits in every run.
template <class Executor>
void cross_entropy(Executor& executor, const StepOutputs& outputs, float* gradient, const MetricSums& sums);

}  // namespace gnomon::kernels::device
