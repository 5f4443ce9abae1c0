#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "kernels/device/gather.h"
#include "kernels/dropout_rule.h"
#include "nn/sparse/sparse_kernels.h"
#include "nn/sparse/stored_features.h"

/// Operations on CUDA tensors. They run on the current stream of the tensors' device and do not synchronise.
/// In a build whose LibTorch has no CUDA libraries or cannot load them, every function but why_no_cuda throws
/// base::Failure.
namespace gnomon::nn {

/// Returns an empty string if CUDA tensors can be used, otherwise the reason why not.
std::string why_no_cuda();

const SparseKernels& cuda_sparse_kernels();

/// Apply kernels::device::dropout and kernels::device::relu_dropout (kernels/device/dropout.h) to a
/// contiguous fp32 tensor.
at::Tensor cuda_dropout(const kernels::DropoutRule& rule, const at::Tensor& x);
at::Tensor cuda_relu_dropout(const kernels::DropoutRule& rule, const at::Tensor& x);

/// Adds the metrics of a step (kernels/device/metrics.h) to `sums`, the bytes of a
/// kernels::device::MetricSums. logits (seeds, classes) and mean_loss (one element) are contiguous fp32,
/// labels contiguous int64.
void cuda_add_metrics(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& mean_loss,
                      const at::Tensor& sums);

/// Returns the stored rows of a mini-batch on a CUDA device: row i is that of vertices[i] (contiguous int64,
/// on the device).
StoredFeaturesPtr cuda_stored_features(const kernels::device::Rows& rows, graph::FeatureType type,
                                       std::int64_t columns, at::Tensor vertices);

}  // namespace gnomon::nn
