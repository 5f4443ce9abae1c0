#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "kernels/device/cross_entropy.h"
#include "kernels/device/dropout.h"
#include "kernels/device/padding.h"
#include "nn/step_targets.h"

/// The dense kernels of kernels/device on tensors (nn/cuda/kernels.h says what each computes). `Launches` is
/// as in DeviceSparseKernels; the kernels must be declared where these templates are instantiated.
namespace gnomon::nn {

template <class Launches>
at::Tensor device_dropout(const Launches& launches, const kernels::DropoutRule& rule, const at::Tensor& x) {
  auto out = at::empty(x.sizes(), x.options().dtype(at::kFloat));
  auto* to = out.template mutable_data_ptr<float>();
  auto launch = launches.begin(x);
  if (x.scalar_type() == at::kHalf) {
    const auto* halves = static_cast<const std::uint16_t*>(x.const_data_ptr());
    kernels::device::dropout(launch.executor, rule, x.numel(), halves, to);
  } else if (x.scalar_type() == at::kBFloat16) {
    const auto* numbers = static_cast<const kernels::device::Bf16*>(x.const_data_ptr());
    kernels::device::dropout(launch.executor, rule, x.numel(), numbers, to);
  } else {
    kernels::device::dropout(launch.executor, rule, x.numel(), x.template const_data_ptr<float>(), to);
  }
  return out;
}

template <class Launches>
at::Tensor device_relu_dropout(const Launches& launches, const kernels::DropoutRule& rule,
                               const at::Tensor& x) {
  auto out = at::empty_like(x);
  auto launch = launches.begin(x);
  kernels::device::relu_dropout(launch.executor, rule, x.numel(), x.template const_data_ptr<float>(),
                                out.template mutable_data_ptr<float>());
  return out;
}

template <class Launches>
at::Tensor device_relu_dropout_gradient(const Launches& launches, float scale, const at::Tensor& out,
                                        const at::Tensor& gradient) {
  auto of_input = at::empty_like(gradient);
  auto launch = launches.begin(gradient);
  kernels::device::relu_dropout_gradient(
      launch.executor, scale, gradient.numel(), out.template const_data_ptr<float>(),
      gradient.template const_data_ptr<float>(), of_input.template mutable_data_ptr<float>());
  return of_input;
}

/// `sums` is MetricSums or, of a padded mini-batch, a StepState in device memory.
template <class Launches, class Sums>
at::Tensor device_cross_entropy(const Launches& launches, const at::Tensor& logits,
                                const StepTargets& targets, const Sums& sums) {
  auto gradient = at::empty_like(logits);
  auto launch = launches.begin(logits);
  kernels::device::StepOutputs outputs{logits.template const_data_ptr<float>(),
                                       targets.labels.template const_data_ptr<std::int64_t>(), logits.size(0),
                                       logits.size(1)};
  if (targets.label_sets.defined()) {
    outputs.label_sets = targets.label_sets.template const_data_ptr<std::uint8_t>();
  }
  kernels::device::cross_entropy(launch.executor, outputs, gradient.template mutable_data_ptr<float>(), sums);
  return gradient;
}

template <class Launches>
at::Tensor device_cross_entropy(const Launches& launches, const at::Tensor& logits,
                                const StepTargets& targets, const at::Tensor& losses,
                                const at::Tensor& correct) {
  TORCH_CHECK(losses.numel() >= targets.labels.numel(), "the sums have room for ", losses.numel(),
              " seeds, not ", targets.labels.numel());
  return device_cross_entropy(launches, logits, targets,
                              kernels::device::MetricSums{losses.template mutable_data_ptr<double>(),
                                                          correct.template mutable_data_ptr<std::int64_t>()});
}

template <class Launches>
void device_copy_padded(const Launches& launches, const std::vector<kernels::device::PaddedCopy>& copies,
                        const kernels::device::StepState& value, const at::Tensor& state) {
  auto launch = launches.begin(state);
  kernels::device::copy_padded(launch.executor, copies, value,
                               static_cast<kernels::device::StepState*>(state.mutable_data_ptr()));
}

}  // namespace gnomon::nn
