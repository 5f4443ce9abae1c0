#pragma once

#include <cstdint>

#include "kernels/device/executor.h"
#include "kernels/device/step_state.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// The outputs of a training step: logits is seeds x classes, row-major. Labels are in 0 … classes - 1 or, of
/// a multi-label graph, rows of label_sets (sets x classes, row-major, 0 or 1).
struct StepOutputs {
  const float* logits = nullptr;
  const std::int64_t* labels = nullptr;
  std::int64_t seeds = 0;
  std::int64_t classes = 0;
  const std::uint8_t* label_sets = nullptr;
};

/// Writes the gradient of the mean cross-entropy over the seeds with respect to the logits (seeds x classes),
/// and adds the step's metrics to `sums`. Of equal logits the first counts as the largest, and NaN is larger
/// than any number. With label sets it is the mean binary cross-entropy over the seeds and classes, and a
/// seed is correct if the classes above a probability of one half are its set. Asynchronous; the same bits in
/// every run.
template <class Executor>
void cross_entropy(Executor& executor, const StepOutputs& outputs, float* gradient, const MetricSums& sums);

/// The same of a mini-batch that is padded to outputs.seeds rows: the seeds are the first state->seeds of
/// them, the gradient of the others is 0, and metrics are added to state->sums. `state` is in device memory.
template <class Executor>
void cross_entropy(Executor& executor, const StepOutputs& outputs, float* gradient, const StepState* state);

}  // namespace gnomon::kernels::device
