#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "kernels/device/gather.h"
#include "kernels/dropout_rule.h"
#include "nn/sparse/sparse_kernels.h"
#include "nn/sparse/stored_rows.h"

/// What runs on CUDA tensors, on their device's current stream; the host does not wait. In a build whose
/// LibTorch has no CUDA, or cannot load it, every function but the first throws base::Failure.
namespace gnomon::nn {

/// Empty when there can be CUDA tensors here; otherwise why not.
std::string why_no_cuda();

const SparseKernels& cuda_sparse_kernels();

/// kernels::device::dropout and kernels::device::relu_dropout (kernels/device/dropout.h) of a contiguous fp32
/// tensor.
at::Tensor cuda_dropout(const kernels::DropoutRule& rule, const at::Tensor& x);
at::Tensor cuda_relu_dropout(const kernels::DropoutRule& rule, const at::Tensor& x);

/// DeviceStoredRows of a CUDA device: row i is that of vertices[i] (contiguous int64 there).
StoredRowsPtr cuda_stored_rows(const kernels::device::Rows& rows, graph::FeatureType type,
                               std::int64_t columns, at::Tensor vertices);

}  // namespace gnomon::nn
