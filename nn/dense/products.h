#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "nn/dense/factors.h"
#include "nn/sparse/stored_rows.h"

/// Sums of products of fp32 matrices. On the CPU in pieces of fixed size, each computed by one thread: the
/// same bits for any number of threads (nn/dense/pieces.h). None of them is differentiable.
namespace gnomon::nn {

/// Rows that one piece has of a tensor on that device: on a GPU all of `rows`, which its threads share.
std::int64_t rows_a_piece(at::Device device, std::int64_t rows);

/// A matrix that is there piece by piece.
struct PieceSource {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  at::Device device = at::kCPU;
  /// Rows begin … begin + length - 1; asked for by several threads at once.
  std::function<at::Tensor(std::int64_t begin, std::int64_t length)> piece;
};
PieceSource pieces_of(const at::Tensor& x);
PieceSource pieces_of(const DroppedRows& x, const Factors& factors);

/// a · b: (n, k) by (k, m), two factors of one kind (nn/dense/factors.h); the result is fp32.
at::Tensor product(const PieceSource& a, const at::Tensor& b);
inline at::Tensor product(const at::Tensor& a, const at::Tensor& b) { return product(pieces_of(a), b); }

/// aᵀ · b, likewise: (n, k) and (n, m) give (k, m), the gradient of a weight. Pieces of the n rows are added
/// in order.
at::Tensor transposed_product(const PieceSource& a, const at::Tensor& b);
inline at::Tensor transposed_product(const at::Tensor& a, const at::Tensor& b) {
  return transposed_product(pieces_of(a), b);
}

/// The sum of all rows: (n, m) gives (m).
at::Tensor column_sums(const at::Tensor& a);

}  // namespace gnomon::nn
