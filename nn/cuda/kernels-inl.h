#pragma once

#include <memory>
#include <utility>

#include "nn/cuda/kernels.h"
#include "nn/device_dense.h"
#include "nn/sparse/device_sparse_kernels.h"
#include "nn/sparse/device_stored_features.h"

/// What nn/cuda/kernels.h declares but for why_no_cuda and cuda_launch_graph, by Launches
/// (nn/sparse/device_sparse_kernels.h), which the source that includes this has defined: on a GPU, and on its
/// double in tests.
namespace gnomon::nn {

const SparseKernels& cuda_sparse_kernels() {
  static const DeviceSparseKernels<Launches> kernels;
  return kernels;
}

at::Tensor cuda_dropout(const kernels::DropoutRule& rule, const at::Tensor& x) {
  return device_dropout(Launches(), rule, x);
}

at::Tensor cuda_relu_dropout(const kernels::DropoutRule& rule, const at::Tensor& x) {
  return device_relu_dropout(Launches(), rule, x);
}

at::Tensor cuda_relu_dropout_gradient(float scale, const at::Tensor& out, const at::Tensor& gradient) {
  return device_relu_dropout_gradient(Launches(), scale, out, gradient);
}

at::Tensor cuda_cross_entropy(const at::Tensor& logits, const StepTargets& targets, const at::Tensor& losses,
                              const at::Tensor& correct) {
  return device_cross_entropy(Launches(), logits, targets, losses, correct);
}

at::Tensor cuda_cross_entropy(const at::Tensor& logits, const StepTargets& targets,
                              const kernels::device::StepState* state) {
  return device_cross_entropy(Launches(), logits, targets, state);
}

void cuda_copy_padded(const std::vector<kernels::device::PaddedCopy>& copies,
                      const kernels::device::StepState& value, const at::Tensor& state) {
  device_copy_padded(Launches(), copies, value, state);
}

StoredFeaturesPtr cuda_stored_features(const kernels::device::Rows& rows, graph::FeatureType type,
                                       std::int64_t columns, at::Tensor vertices) {
  return std::make_shared<const DeviceStoredFeatures<Launches>>(rows, type, columns, std::move(vertices));
}

}  // namespace gnomon::nn
