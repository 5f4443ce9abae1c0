#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "base/philox.h"
#include "kernels/dropout_rule.h"
#include "nn/sparse/stored_rows.h"

/// The dense operations of the models, fp32 and differentiable. ATen's own give other bits with another
/// number of threads (a matrix product is split along its inner dimension, an exponential's vector and scalar
/// forms round differently at the ends of a thread's part). These are cut into pieces of fixed size, each
/// computed by one thread, so that the weights do not depend on a plan's device_threads. On CUDA tensors they
/// are ATen's own, and dropout has the CPU's bits.
namespace gnomon::nn::dense {

/// x · weight: (n, in) by (in, out).
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight);
/// The same with stored rows, which are read piece by piece and read again for the weight's gradient.
at::Tensor linear(const DroppedRows& x, const at::Tensor& weight);

/// x + bias: (n, columns) and (columns).
at::Tensor add_bias(const at::Tensor& x, const at::Tensor& bias);

/// The exponential linear unit with alpha 1 (Clevert, Unterthiner and Hochreiter, ICLR 2016).
at::Tensor elu(const at::Tensor& x);

/// The rule that drops each element with `probability`, rounded to a multiple of 2^-16: element i's fate is a
/// pure function of (key, i); key.item is not used.
kernels::DropoutRule dropout_rule(double probability, const base::StreamKey& key);

/// Sets each element to 0 by dropout_rule and scales the others so that the expectation stays. `x` is
/// contiguous.
at::Tensor dropout(const at::Tensor& x, double probability, const base::StreamKey& key);

/// dropout(relu(x)) in one pass over the memory.
at::Tensor relu_dropout(const at::Tensor& x, double probability, const base::StreamKey& key);

}  // namespace gnomon::nn::dense
