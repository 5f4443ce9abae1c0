#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "kernels/device/step_state.h"
#include "nn/step_targets.h"

namespace gnomon::nn {

/// The training metrics of one step, or summed over several.
struct StepResult {
  double loss_sum = 0;       ///< summed over the seeds
  std::int64_t correct = 0;  ///< number of correctly predicted seeds
  std::int64_t seeds = 0;
};

/// Sums of the training metrics of steps, in the memory of the device that trains, so that the host need not
/// wait for each step.
class StepSums {
 public:
  /// Starts from these sums.
  explicit StepSums(const StepResult& start = {}) : host_(start) {}

  void add(const StepResult& step);
  /// Adds the metrics of logits (seeds, classes; fp32) on a GPU for targets there. Returns the gradient of
  /// the mean loss over the seeds with respect to the logits. Everything runs on the current stream, without
  /// waiting for it. Adds nothing again before end_step(): a step that lacked memory is repeated.
  at::Tensor add_cross_entropy(const at::Tensor& logits, const StepTargets& targets);
  /// Ends the step of the last add_cross_entropy().
  void end_step() { is_added_ = false; }
  /// Counts that many seeds whose metrics a launch adds on the GPU of `labels` (int64). Returns where to.
  kernels::device::MetricSums add_seeds(std::int64_t seeds, const at::TensorOptions& labels);
  /// Returns the sums. On a GPU the host waits for the current stream; earlier additions must have been on
  /// it, or be done.
  StepResult read() const;

 private:
  StepResult host_;  ///< the seeds of all steps; loss and correct predictions except those added by
                     ///< add_cross_entropy()
  /// kernels::device::MetricSums on the GPU; undefined before the first step there.
  at::Tensor losses_, correct_;
  bool is_added_ = false;  ///< the metrics of a step that has not ended
};

/// The metrics of one step on the device that trains.
struct StepMetrics {
  at::Tensor loss;     ///< mean over the seeds, one element
  at::Tensor correct;  ///< number of correctly predicted seeds, one element
  std::int64_t seeds = 0;
};

/// The metrics of a step by cross-entropy: its mean, and a seed is correct if its largest logit is that of
/// its label.
StepMetrics metrics_of(const at::Tensor& loss, const at::Tensor& logits, const at::Tensor& labels);

/// The metrics as StepSums::add takes them. Waits for a GPU.
StepResult read(const StepMetrics& metrics);

}  // namespace gnomon::nn
