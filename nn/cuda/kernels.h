#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "kernels/device/gather.h"
#include "kernels/device/padding.h"
#include "kernels/dropout_rule.h"
#include "nn/graphs/launch_graph.h"
#include "nn/sparse/sparse_kernels.h"
#include "nn/sparse/stored_features.h"
#include "nn/step_targets.h"

/// Operations on CUDA tensors. They run on the current stream of the tensors' device and do not synchronise.
/// In a build whose LibTorch has no CUDA libraries or cannot load them, every function but why_no_cuda throws
/// base::Failure.
namespace gnomon::nn {

/// Returns an empty string if CUDA tensors can be used, otherwise the reason why not.
std::string why_no_cuda();

const SparseKernels& cuda_sparse_kernels();

/// The functions of kernels/device/dropout.h on contiguous tensors: x is fp32 or, for cuda_dropout, fp16 or
/// bf16; the results are fp32.
at::Tensor cuda_dropout(const kernels::DropoutRule& rule, const at::Tensor& x);
at::Tensor cuda_relu_dropout(const kernels::DropoutRule& rule, const at::Tensor& x);
at::Tensor cuda_relu_dropout_gradient(float scale, const at::Tensor& out, const at::Tensor& gradient);

/// Returns the gradient of the mean loss with respect to the logits, and adds the step's metrics to the sums
/// (kernels/device/cross_entropy.h). logits (seeds, classes) are contiguous fp32, losses fp64 of at least as
/// many elements as there are seeds, correct one int64.
at::Tensor cuda_cross_entropy(const at::Tensor& logits, const StepTargets& targets, const at::Tensor& losses,
                              const at::Tensor& correct);
/// Padded-batch variant of the above; `state` is in the GPU's memory.
at::Tensor cuda_cross_entropy(const at::Tensor& logits, const StepTargets& targets,
                              const kernels::device::StepState* state);

/// copy_padded (kernels/device/padding.h) on the GPU of the tensor `state`, which holds a StepState.
void cuda_copy_padded(const std::vector<kernels::device::PaddedCopy>& copies,
                      const kernels::device::StepState& value, const at::Tensor& state);

/// A graph of launches on the current GPU, still empty.
std::unique_ptr<LaunchGraph> cuda_launch_graph();

/// Returns the stored rows of a mini-batch on a CUDA device: row i is that of vertices[i] (contiguous int64,
/// on the device).
StoredFeaturesPtr cuda_stored_features(const kernels::device::Rows& rows, graph::FeatureType type,
                                       std::int64_t columns, at::Tensor vertices);

}  // namespace gnomon::nn
