#pragma once

#include <ATen/core/Tensor.h>

#include "nn/sparse/sparse.h"

namespace gnomon::nn {

/// GraphSAGE's layer with the mean aggregator (Hamilton, Ying and Leskovec, NeurIPS 2017, algorithm 1), the
/// products with both weights added up: y[v] = x[v] · of_self + mean of x[u] over v's in-edges ·
/// of_neighbours + bias. x is (S, in), the weights (in, out), the bias (out), y (D, out). Differentiable; the
/// same bits for any number of threads. What its parts do one by one moves a gradient of x twice through the
/// memory.
at::Tensor sage_product(const SparseBlockPtr& block, const at::Tensor& x, const at::Tensor& of_self,
                        const at::Tensor& of_neighbours, const at::Tensor& bias);
/// The same of stored rows, which get no gradient.
at::Tensor sage_product(const SparseBlockPtr& block, const DroppedRows& x, const at::Tensor& of_self,
                        const at::Tensor& of_neighbours, const at::Tensor& bias);

/// The first `count` rows, read piece by piece.
at::Tensor first_rows(const DroppedRows& x, std::int64_t count);

}  // namespace gnomon::nn
