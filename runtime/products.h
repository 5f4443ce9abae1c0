#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

/// Sums of products of fp32 matrices. On the CPU in pieces of fixed size, each computed by one thread: the
/// same bits for any number of threads (runtime/pieces.h). None of them is differentiable.
namespace gnomon::runtime {

/// Rows that one piece has of a tensor where `x` lies: on a device all of them, which its threads share.
std::int64_t rows_a_piece(const at::Tensor& x);

/// a · b: (n, k) by (k, m).
at::Tensor product(const at::Tensor& a, const at::Tensor& b);

/// aᵀ · b: (n, k) and (n, m) give (k, m), the gradient of a weight. Pieces of the n rows are added in order.
at::Tensor transposed_product(const at::Tensor& a, const at::Tensor& b);

/// The sum of all rows: (n, m) gives (m).
at::Tensor column_sums(const at::Tensor& a);

}  // namespace gnomon::runtime
