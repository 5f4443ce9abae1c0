#pragma once

#include <ATen/core/Tensor.h>

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

/// Returns the rows of x that are the block's destinations. Stored rows are read chunk by chunk; where
/// destinations are chosen, without dropout.
at::Tensor destinations_of(const at::Tensor& x, const SparseBlock& block);
at::Tensor destinations_of(const DroppedFeatures& x, const SparseBlock& block);

}  // namespace gnomon::nn
