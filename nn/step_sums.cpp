#include "nn/step_sums.h"

#include <ATen/ATen.h>

#include <cstring>
#include <vector>

#include "kernels/device/metrics.h"
#include "nn/cuda/kernels.h"

namespace gnomon::nn {
namespace {

using kernels::device::MetricSums;

at::Tensor on_device(const MetricSums& sums, at::Device device) {
  auto bytes = at::empty({static_cast<std::int64_t>(sizeof(sums))}, at::kByte);
  std::memcpy(bytes.mutable_data_ptr(), &sums, sizeof(sums));
  return bytes.to(device);
}

}  // namespace

void StepSums::add(const StepResult& step) {
  if (device_.defined()) {
    host_ = read();
    device_.reset();
  }
  host_.loss_sum += step.loss_sum;
  host_.correct += step.correct;
  host_.seeds += step.seeds;
}

void StepSums::add(const at::Tensor& loss, const at::Tensor& logits, const at::Tensor& labels) {
  if (logits.is_cpu()) {
    add(result_of(loss, logits, labels));
    return;
  }
  if (!device_.defined()) {
    device_ = on_device({host_.loss_sum, host_.correct}, logits.device());
  }
  cuda_add_metrics(logits.contiguous(), labels, loss, device_);
  host_.seeds += labels.size(0);
}

StepResult StepSums::read() const {
  if (!device_.defined()) {
    return host_;
  }
  const auto bytes = device_.cpu();
  MetricSums sums;
  std::memcpy(&sums, bytes.const_data_ptr(), sizeof(sums));
  return {sums.loss, sums.correct, host_.seeds};
}

StepResult result_of(const at::Tensor& loss, const at::Tensor& logits, const at::Tensor& labels) {
  const std::int64_t seeds = labels.size(0);
  const auto correct = logits.argmax(1).eq(labels).sum();
  const auto both = at::stack(std::vector{loss.to(at::kDouble), correct.to(at::kDouble)}).cpu();
  const auto* results = both.const_data_ptr<double>();
  return {results[0] * static_cast<double>(seeds), static_cast<std::int64_t>(results[1]), seeds};
}

}  // namespace gnomon::nn
