#include "nn/layers/layer.h"

#include <ATen/ATen.h>

#include "nn/dense/dense.h"
#include "nn/dense/sage_product.h"
#include "nn/sparse/sparse.h"

namespace gnomon::nn {

at::Tensor inverse_roots_of(const at::Tensor& degrees) { return (degrees + 1).rsqrt_(); }

DropoutSpec DropoutSpec::of_layer(std::size_t index) const {
  auto of_layer = *this;
  of_layer.key.level = static_cast<std::uint32_t>(index);
  return of_layer;
}

kernels::DropoutRule DropoutSpec::inputs() const {
  auto stream = key;
  stream.level = 2 * key.level;
  auto rule = dense::dropout_rule(probability, stream);
  rule.number = number;
  return rule;
}

kernels::DropoutRule DropoutSpec::attention() const {
  auto rule = inputs();
  ++rule.key.level;
  return rule;
}

bool aggregates_first(const Hop& hop, std::int64_t in, std::int64_t out) {
  if (hop.has_all_sources) {
    return hop.saves_memory || in <= out;
  }
  const auto& block = *hop.block;
  const auto work = [&](std::int64_t rows, std::int64_t columns) {
    return rows * in * out + block.num_edges() * columns;
  };
  return work(block.num_destinations(), in) < work(block.num_sources(), out);
}

at::Tensor destinations_of(const at::Tensor& sources, const Hop& hop) {
  return destinations_of(sources, *hop.block);
}

at::Tensor destinations_of(const DroppedFeatures& sources, const Hop& hop) {
  return destinations_of(sources, *hop.block);
}

SparseFeatures destinations_of(const SparseFeatures& sources, const Hop& hop) {
  return first_rows(sources, hop.block->num_destinations());
}

}  // namespace gnomon::nn
