#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/autograd/sparse_kernels.h"
#include "kernels/dropout_rule.h"

/// What runs on CUDA tensors, on their device's current stream; the host does not wait. In a build whose
/// LibTorch has no CUDA, or cannot load it, every function throws base::Failure.
namespace gnomon::kernels::autograd {

const SparseKernels& cuda_sparse_kernels();

/// device::dropout and device::relu_dropout (kernels/device/dropout.h) of contiguous fp32 tensors of one
/// size.
void cuda_dropout(const DropoutRule& rule, const at::Tensor& from, at::Tensor& to);
void cuda_relu_dropout(const DropoutRule& rule, const at::Tensor& from, at::Tensor& to);

}  // namespace gnomon::kernels::autograd
