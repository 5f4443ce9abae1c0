#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "nn/dense/gemm.h"
#include "nn/sparse/stored_features.h"

/// Matrix products and sums. On the CPU they work on chunks of fixed size, each computed by one thread
/// (chunks.h), so that the bits do not depend on the number of threads. None of them is differentiable.
namespace gnomon::nn {

/// Returns the number of rows per chunk of a tensor on a device. On a GPU, one chunk has all `rows`.
std::int64_t rows_per_chunk(at::Device device, std::int64_t rows);

/// A matrix whose rows are produced chunk by chunk.
struct ChunkedMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  at::Device device = at::kCPU;
  /// Returns rows begin … begin + length - 1; called by several threads concurrently.
  std::function<at::Tensor(std::int64_t begin, std::int64_t length)> chunk;
};
ChunkedMatrix chunks_of(const at::Tensor& x);
ChunkedMatrix chunks_of(const DroppedFeatures& x, const GemmOperands& operands);

/// Returns a · b in fp32: (n, k) by (k, m). Both are operands of the same type (gemm.h).
at::Tensor product(const ChunkedMatrix& a, const at::Tensor& b);
inline at::Tensor product(const at::Tensor& a, const at::Tensor& b) { return product(chunks_of(a), b); }

/// Returns aᵀ · b in fp32, the gradient of a weight: (n, k) and (n, m) give (k, m). Both are operands of the
/// same type. The partial results of chunks of the n rows are added in order.
at::Tensor transposed_product(const ChunkedMatrix& a, const at::Tensor& b);
inline at::Tensor transposed_product(const at::Tensor& a, const at::Tensor& b) {
  return transposed_product(chunks_of(a), b);
}

/// Returns the sum of all rows: (n, m) gives (m).
at::Tensor column_sums(const at::Tensor& a);

}  // namespace gnomon::nn
