#pragma once

#include <ATen/core/Tensor.h>

#include <array>

#include "nn/sparse/sparse.h"

namespace gnomon::nn {

/// The GraphSAGE layer with the mean aggregator (Hamilton, Ying and Leskovec, NeurIPS 2017, algorithm 1) as
/// one fused operation: y[v] = x[v] · of_self + (mean of x[u] over v's in-edges) · of_neighbours + bias. x is
/// (S, in), the weights (in, out), the bias (out), y (D, out). Differentiable; the bits do not depend on the
/// number of threads. The separate operations would write and read a second gradient of x. If of_neighbours
/// directly follows of_self in memory, training computes both products as one, equal up to rounding.
at::Tensor sage_product(const SparseBlockPtr& block, const at::Tensor& x, const at::Tensor& of_self,
                        const at::Tensor& of_neighbours, const at::Tensor& bias);
/// The layer on stored rows, which get no gradient.
at::Tensor sage_product(const SparseBlockPtr& block, const DroppedFeatures& x, const at::Tensor& of_self,
                        const at::Tensor& of_neighbours, const at::Tensor& bias);

/// Whether training computes both products as one: the weights are adjacent in memory, and the block's
/// destinations are its first sources.
bool is_one_product(const SparseBlock& block, const at::Tensor& of_self, const at::Tensor& of_neighbours);

/// The parts of sage_product() where it is one product, none of them differentiable. `own_and_mean` has each
/// destination's row beside the mean of its neighbours' (SparseKernels::own_and_mean).
at::Tensor joint_product(const at::Tensor& own_and_mean, const at::Tensor& of_self, const at::Tensor& bias);
/// The gradients of of_self, of_neighbours and the bias, given that of the product.
std::array<at::Tensor, 3> joint_gradients(const at::Tensor& own_and_mean, const at::Tensor& gradient);
/// The gradient of x.
at::Tensor joint_input_gradient(const SparseBlock& block, const at::Tensor& of_self,
                                const at::Tensor& gradient);

/// Returns the rows of x that are the block's destinations. Stored rows are read chunk by chunk; where
/// destinations are chosen, without dropout.
at::Tensor destinations_of(const at::Tensor& x, const SparseBlock& block);
at::Tensor destinations_of(const DroppedFeatures& x, const SparseBlock& block);

}  // namespace gnomon::nn
