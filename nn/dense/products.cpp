#include "nn/dense/products.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "nn/dense/chunks.h"

namespace gnomon::nn {
namespace {

constexpr std::int64_t rows_per_cpu_chunk = 512;

/// The number of elements that one thread sums over all chunks, in the order of the chunks: few enough to
/// stay in its cache.
constexpr std::int64_t elements_per_sum = 1 << 14;

/// Returns the sum, in order, of the partial results that `act` writes for chunks of rows. The chunks are
/// larger than those of products, because each has a partial result of full size.
template <class Act>
at::Tensor sum_over_chunks(std::int64_t rows, std::vector<std::int64_t> sizes,
                           const at::TensorOptions& options, const Act& act) {
  const std::int64_t chunk_rows =
      options.device().is_cpu() ? 4 * rows_per_cpu_chunk : std::max<std::int64_t>(rows, 1);
  const std::int64_t count = std::max<std::int64_t>(1, (rows + chunk_rows - 1) / chunk_rows);
  sizes.insert(sizes.begin(), count);
  const auto partial = rows == 0 ? at::zeros(sizes, options) : at::empty(sizes, options);
  for_each_chunk(rows, chunk_rows, [&](std::int64_t begin, std::int64_t length) {
    auto own = partial[begin / chunk_rows];
    act(own, begin, length);
  });
  const std::int64_t elements = partial.numel() / count;
  const auto flat = partial.view({count, elements});
  const std::int64_t chunk_elements = options.device().is_cpu() ? elements_per_sum : elements;
  for_each_chunk(count > 1 ? elements : 0, chunk_elements, [&](std::int64_t begin, std::int64_t length) {
    auto sum = flat[0].narrow(0, begin, length);
    for (std::int64_t i = 1; i < count; ++i) {
      sum.add_(flat[i].narrow(0, begin, length));
    }
  });
  return partial[0];
}

}  // namespace

std::int64_t rows_per_chunk(at::Device device, std::int64_t rows) {
  return device.is_cpu() ? rows_per_cpu_chunk : std::max<std::int64_t>(rows, 1);
}

ChunkedMatrix chunks_of(const at::Tensor& x) {
  return {x.size(0), x.size(1), x.device(),
          [x](std::int64_t begin, std::int64_t length) { return x.narrow(0, begin, length); }};
}

ChunkedMatrix chunks_of(const DroppedFeatures& x, const GemmOperands& operands) {
  const at::TensorOptions options = at::TensorOptions(at::kFloat).device(x.rows->device());
  return {x.size(0), x.size(1), x.rows->device(),
          [x, operands, options](std::int64_t begin, std::int64_t length) {
            auto chunk = at::empty({length, x.size(1)}, options);
            x.rows->read(begin, x.rule, chunk);
            return operands.of(chunk);
          }};
}

at::Tensor product(const ChunkedMatrix& a, const at::Tensor& b) {
  auto out = at::empty({a.rows, b.size(1)}, b.options().dtype(at::kFloat));
  for_each_chunk(a.rows, rows_per_chunk(a.device, a.rows), [&](std::int64_t begin, std::int64_t length) {
    auto chunk = out.narrow(0, begin, length);
    gemm(chunk, a.chunk(begin, length), b);
  });
  return out;
}

at::Tensor transposed_product(const ChunkedMatrix& a, const at::Tensor& b) {
  return sum_over_chunks(a.rows, {a.columns, b.size(1)}, b.options().dtype(at::kFloat),
                         [&](at::Tensor& partial, std::int64_t begin, std::int64_t length) {
                           gemm(partial, a.chunk(begin, length).t(), b.narrow(0, begin, length));
                         });
}

at::Tensor column_sums(const at::Tensor& a) {
  return sum_over_chunks(a.size(0), {a.size(1)}, a.options(),
                         [&](at::Tensor& partial, std::int64_t begin, std::int64_t length) {
                           at::sum_out(partial, a.narrow(0, begin, length), 0);
                         });
}

}  // namespace gnomon::nn
