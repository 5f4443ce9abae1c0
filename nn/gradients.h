#pragma once

#include <ATen/core/Tensor.h>

namespace gnomon::nn {

/// Computes the gradients of what `output` was computed from, on the calling thread. `gradient` is that of
/// `output` itself, which may be left out if it is a scalar. LibTorch would leave a GPU's kernels to a thread
/// of its own: the two would wake each other up in each step, and a thread that slept launches more slowly.
void compute_gradients(const at::Tensor& output, const at::Tensor& gradient = {});

}  // namespace gnomon::nn
