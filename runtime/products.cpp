#include "runtime/products.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "runtime/pieces.h"

namespace gnomon::runtime {
namespace {

constexpr std::int64_t rows_a_piece_of_cpu = 512;

/// The sum over pieces of the rows of what `act` writes for one: fewer and larger ones than products have, as
/// each writes a whole result.
template <class Act>
at::Tensor sum_of_pieces(std::int64_t rows, std::vector<std::int64_t> sizes, const at::TensorOptions& options,
                         const Act& act) {
  const std::int64_t rows_a_part =
      options.device().is_cpu() ? 4 * rows_a_piece_of_cpu : std::max<std::int64_t>(rows, 1);
  const std::int64_t count = std::max<std::int64_t>(1, (rows + rows_a_part - 1) / rows_a_part);
  sizes.insert(sizes.begin(), count);
  const auto parts = rows == 0 ? at::zeros(sizes, options) : at::empty(sizes, options);
  for_each_piece(rows, rows_a_part, [&](std::int64_t begin, std::int64_t length) {
    auto part = parts[begin / rows_a_part];
    act(part, begin, length);
  });
  auto sum = parts[0];
  for (std::int64_t i = 1; i < count; ++i) {
    sum.add_(parts[i]);
  }
  return sum;
}

}  // namespace

std::int64_t rows_a_piece(const at::Tensor& x) {
  return x.is_cpu() ? rows_a_piece_of_cpu : std::max<std::int64_t>(x.size(0), 1);
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  auto out = at::empty({a.size(0), b.size(1)}, a.options());
  for_each_piece(a.size(0), rows_a_piece(a), [&](std::int64_t begin, std::int64_t length) {
    auto part = out.narrow(0, begin, length);
    at::mm_out(part, a.narrow(0, begin, length), b);
  });
  return out;
}

at::Tensor transposed_product(const at::Tensor& a, const at::Tensor& b) {
  return sum_of_pieces(a.size(0), {a.size(1), b.size(1)}, a.options(),
                       [&](at::Tensor& part, std::int64_t begin, std::int64_t length) {
                         at::mm_out(part, a.narrow(0, begin, length).t(), b.narrow(0, begin, length));
                       });
}

at::Tensor column_sums(const at::Tensor& a) {
  return sum_of_pieces(a.size(0), {a.size(1)}, a.options(),
                       [&](at::Tensor& part, std::int64_t begin, std::int64_t length) {
                         at::sum_out(part, a.narrow(0, begin, length), 0);
                       });
}

}  // namespace gnomon::runtime
