#pragma once

#include <cstdint>

#include "kernels/device/executor.h"
#include "kernels/device/step_state.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// The outputs of a training step: logits is seeds x classes, row-major; labels are in 0 … classes - 1.
struct StepOutputs {
  const float* logits = nullptr;
  const std::int64_t* labels = nullptr;
  std::int64_t seeds = 0;
  std::int64_t classes = 0;
};

/// Writes the gradient of the mean cross-entropy over the seeds with respect to the logits (seeds x classes),
/// and adds the step's metrics to `sums`. Of equal logits the first counts as the largest, and NaN is larger
/// than any number. Asynchronous; the same bits in every run.
template <class Executor>
void cross_entropy(Executor& executor, const StepOutputs& outputs, float* gradient, const MetricSums& sums);

/// The same of a mini-batch that is padded to outputs.seeds rows: the seeds are the first state->seeds of
/// them, the gradient of the others is 0, and metrics are added to state->sums. `state` is in device memory.
template <class Executor>
void cross_entropy(Executor& executor, const StepOutputs& outputs, float* gradient, const StepState* state);

}  // namespace gnomon::kernels::device
