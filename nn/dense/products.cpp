#include "nn/dense/products.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "nn/dense/pieces.h"

namespace gnomon::nn {
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

std::int64_t rows_a_piece(at::Device device, std::int64_t rows) {
  return device.is_cpu() ? rows_a_piece_of_cpu : std::max<std::int64_t>(rows, 1);
}

PieceSource pieces_of(const at::Tensor& x) {
  return {x.size(0), x.size(1), x.device(),
          [x](std::int64_t begin, std::int64_t length) { return x.narrow(0, begin, length); }};
}

PieceSource pieces_of(const DroppedRows& x, const Factors& factors) {
  const at::TensorOptions options = at::TensorOptions(at::kFloat).device(x.rows->device());
  return {x.size(0), x.size(1), x.rows->device(),
          [x, factors, options](std::int64_t begin, std::int64_t length) {
            auto piece = at::empty({length, x.size(1)}, options);
            x.rows->read(begin, x.rule, piece);
            return factors.of(piece);
          }};
}

at::Tensor product(const PieceSource& a, const at::Tensor& b) {
  auto out = at::empty({a.rows, b.size(1)}, b.options().dtype(at::kFloat));
  for_each_piece(a.rows, rows_a_piece(a.device, a.rows), [&](std::int64_t begin, std::int64_t length) {
    auto part = out.narrow(0, begin, length);
    multiply(part, a.piece(begin, length), b);
  });
  return out;
}

at::Tensor transposed_product(const PieceSource& a, const at::Tensor& b) {
  return sum_of_pieces(a.rows, {a.columns, b.size(1)}, b.options().dtype(at::kFloat),
                       [&](at::Tensor& part, std::int64_t begin, std::int64_t length) {
                         multiply(part, a.piece(begin, length).t(), b.narrow(0, begin, length));
                       });
}

at::Tensor column_sums(const at::Tensor& a) {
  return sum_of_pieces(a.size(0), {a.size(1)}, a.options(),
                       [&](at::Tensor& part, std::int64_t begin, std::int64_t length) {
                         at::sum_out(part, a.narrow(0, begin, length), 0);
                       });
}

}  // namespace gnomon::nn
