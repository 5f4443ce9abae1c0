#include "nn/step_sums.h"

#include <ATen/ATen.h>

#include <numeric>
#include <vector>

#include "nn/cuda/kernels.h"

namespace gnomon::nn {

void StepSums::add(const StepResult& step) {
  host_.loss_sum += step.loss_sum;
  host_.correct += step.correct;
  host_.seeds += step.seeds;
}

kernels::device::MetricSums StepSums::add_seeds(std::int64_t seeds, const at::TensorOptions& labels) {
  if (!correct_.defined()) {
    correct_ = at::zeros({1}, labels);
    losses_ = at::zeros({seeds}, labels.dtype(at::kDouble));
  }
  if (losses_.size(0) < seeds) {
    losses_ = at::cat({losses_, at::zeros({seeds - losses_.size(0)}, losses_.options())});
  }
  host_.seeds += seeds;
  return {losses_.mutable_data_ptr<double>(), correct_.mutable_data_ptr<std::int64_t>()};
}

at::Tensor StepSums::add_cross_entropy(const at::Tensor& logits, const StepTargets& targets) {
  if (is_added_) {
    return cuda_cross_entropy(logits.contiguous(), targets, at::zeros_like(losses_),
                              at::zeros_like(correct_));
  }
  (void)add_seeds(targets.labels.size(0), targets.labels.options());
  auto gradient = cuda_cross_entropy(logits.contiguous(), targets, losses_, correct_);
  is_added_ = true;
  return gradient;
}

StepResult StepSums::read() const {
  if (!correct_.defined()) {
    return host_;
  }
  const auto losses = losses_.cpu();
  const auto* first = losses.const_data_ptr<double>();
  return {std::accumulate(first, first + losses.numel(), host_.loss_sum),
          host_.correct + correct_.cpu().item<std::int64_t>(), host_.seeds};
}

StepMetrics metrics_of(const at::Tensor& loss, const at::Tensor& logits, const at::Tensor& labels) {
  return {loss, logits.argmax(1).eq(labels).sum(), labels.size(0)};
}

StepResult read(const StepMetrics& metrics) {
  const auto both =
      at::stack(std::vector{metrics.loss.to(at::kDouble), metrics.correct.to(at::kDouble)}).cpu();
  const auto* results = both.const_data_ptr<double>();
  return {results[0] * static_cast<double>(metrics.seeds), static_cast<std::int64_t>(results[1]),
          metrics.seeds};
}

}  // namespace gnomon::nn
