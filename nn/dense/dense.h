#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "base/philox.h"
#include "kernels/dropout_rule.h"
#include "nn/sparse/sparse_features.h"
#include "nn/sparse/stored_features.h"

/// The dense operations of the models: fp32, differentiable, and with bits that do not depend on the number
/// of threads, so that the weights do not depend on a plan's device_threads. ATen's operations lack this
/// property: a matrix product may be split along its inner dimension, and the vector and scalar loops of an
/// exponential round differently at the ends of a thread's range. On the CPU, the operations here work on
/// chunks of fixed size, each computed by one thread. On CUDA tensors they are ATen's own, except dropout,
/// which drops the same elements as on the CPU.
namespace gnomon::nn::dense {

/// Returns x · weight: (n, in) by (in, out).
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight);
/// Returns x · weight of stored rows, which are read chunk by chunk and read again for the weight's gradient.
at::Tensor linear(const DroppedFeatures& x, const at::Tensor& weight);

/// Returns x · weight of sparse rows with fp32 values, in fp32 for every matmul precision.
at::Tensor linear(const SparseFeatures& x, const at::Tensor& weight);

/// Returns x + bias: (n, columns) and (columns).
at::Tensor add_bias(const at::Tensor& x, const at::Tensor& bias);

/// Returns x · weight + bias, which devices compute as one product.
at::Tensor affine(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

/// The exponential linear unit with alpha 1 (Clevert, Unterthiner and Hochreiter, ICLR 2016).
at::Tensor elu(const at::Tensor& x);

/// Returns the rule that drops each element with `probability`, rounded to a multiple of 2^-16. Whether
/// element i is dropped is a pure function of (key, i); key.item is ignored.
kernels::DropoutRule dropout_rule(double probability, const base::StreamKey& key);

/// Inverted dropout: dropped elements become 0 and the others are scaled by 1 / (1 - probability).
/// Precondition: `x` is contiguous.
at::Tensor dropout(const at::Tensor& x, const kernels::DropoutRule& rule);

/// Returns dropout of fp32, fp16 or bf16 features, in fp32. Not differentiable.
at::Tensor dropout_of_features(const at::Tensor& features, const kernels::DropoutRule& rule);

/// Returns dropout(relu(x)), computed in one pass.
at::Tensor relu_dropout(const at::Tensor& x, const kernels::DropoutRule& rule);

/// Returns the gradient of x, given `out` = relu_dropout(x), its rule's scale and its gradient (contiguous).
/// Not differentiable.
at::Tensor relu_dropout_gradient(float scale, const at::Tensor& out, const at::Tensor& gradient);

}  // namespace gnomon::nn::dense
