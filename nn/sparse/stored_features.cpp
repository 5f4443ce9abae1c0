#include "nn/sparse/stored_features.h"

#include <ATen/ATen.h>

#include <cstddef>
#include <span>
#include <utility>

#include "kernels/cpu/dropout.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/sparse/sparse.h"
#include "nn/feature_types.h"
#include "nn/parallel.h"
#include "nn/tensor_batch.h"
#include "nn/values.h"

namespace gnomon::nn {
namespace {

class HostStoredFeatures final : public StoredFeatures {
 public:
  HostStoredFeatures(const graph::Features& features, at::Tensor vertices)
      : features_(features), vertices_(std::move(vertices)) {}

  std::int64_t size(int dimension) const override {
    if (dimension == 1) {
      return features_.columns;
    }
    return vertices_.defined() ? vertices_.size(0) : features_.rows;
  }
  at::Device device() const override { return at::kCPU; }

  at::Tensor spmm(const SparseBlock& block, const at::Tensor& row_scale, const at::Tensor& column_scale,
                  const kernels::DropoutRule& rule) const override {
    const auto rows = block.by_destination();
    const auto bits = bits_of(rule, block.num_sources() * features_.columns);
    const kernels::cpu::StoredRows x{
        features_, vertices_.defined() ? ids(0, block.num_sources()) : std::span<const graph::VertexId>(),
        rule.threshold > 0 ? kernels::KeptElements{bits.const_data_ptr<std::uint8_t>(), rule.scale()}
                           : kernels::KeptElements{}};
    auto y = at::empty({rows.num_rows(), features_.columns});
    const auto out = values_of(y);
    for_row_ranges(rows, features_.columns, [&](kernels::cpu::RowRange range) {
      kernels::cpu::spmm_stored(rows, range, {values_of(row_scale), values_of(column_scale)}, x, out);
    });
    return y;
  }

  void read(std::int64_t first, const kernels::DropoutRule& rule, at::Tensor& out) const override {
    if (vertices_.defined()) {
      gather(ids(first, out.size(0)), out);
    } else {
      out.copy_(feature_tensor(features_.row(first), features_.type, out.size(0), features_.columns));
    }
    if (rule.threshold > 0) {
      drop(rule, first * features_.columns, out);
    }
  }

  void read_rows(const at::Tensor& rows, at::Tensor& out) const override {
    const auto vertices = vertices_.defined() ? vertices_.index_select(0, rows) : rows;
    gather({vertices.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(vertices.size(0))}, out);
  }

 private:
  std::span<const graph::VertexId> ids(std::int64_t first, std::int64_t count) const {
    return {vertices_.const_data_ptr<std::int64_t>() + first, static_cast<std::size_t>(count)};
  }

  static at::Tensor bits_of(const kernels::DropoutRule& rule, std::int64_t elements) {
    if (rule.threshold == 0) {
      return {};
    }
    auto bits = at::empty({kernels::kept_bytes(elements)}, at::kByte);
    auto* to = bits.mutable_data_ptr<std::uint8_t>();
    constexpr std::int64_t alignment = 1 << 15;
    for_aligned_ranges(elements, alignment, [&](std::int64_t begin, std::int64_t length) {
      kernels::cpu::kept_elements(rule, begin, length, to + begin / kernels::dropout_block);
    });
    return bits;
  }

  void gather(std::span<const graph::VertexId> vertices, at::Tensor& out) const {
    if (features_.type == graph::FeatureType::fp32) {
      kernels::cpu::gather_rows(features_, vertices, static_cast<std::byte*>(out.mutable_data_ptr()));
      return;
    }
    const auto stored = at::empty(out.sizes(), scalar_type(features_.type));
    kernels::cpu::gather_rows(features_, vertices, static_cast<std::byte*>(stored.mutable_data_ptr()));
    out.copy_(stored);
  }

  /// Applies dropout to `out`, whose first element has the index `first`, which may lie within a dropout
  /// block.
  static void drop(const kernels::DropoutRule& rule, std::int64_t first, at::Tensor& out) {
    auto* values = out.mutable_data_ptr<float>();
    std::int64_t done = 0;
    for (; done < out.numel() && (first + done) % kernels::dropout_block != 0; ++done) {
      const auto words = rule.words((first + done) / kernels::dropout_block);
      const bool is_dropped = rule.is_dropped(words, (first + done) % kernels::dropout_block);
      values[done] = is_dropped ? 0 : values[done] * rule.scale();
    }
    kernels::cpu::dropout(rule, first + done, out.numel() - done, values + done, values + done);
  }

  graph::Features features_;
  at::Tensor vertices_;
};

}  // namespace

at::Tensor StoredFeatures::own_and_mean(const SparseBlock& block, const kernels::DropoutRule& rule) const {
  auto own = at::empty({block.num_destinations(), size(1)}, at::TensorOptions(at::kFloat).device(device()));
  read(0, rule, own);
  return at::cat({own, spmm(block, block.kernels().inverse_degrees(block), {}, rule)}, 1);
}

at::Tensor StoredFeatures::gcn_propagate(const SparseBlock&, const at::Tensor&,
                                         const kernels::DropoutRule&) const {
  TORCH_CHECK(false, "only devices fuse the propagation of GCN");
}

StoredFeaturesPtr stored_features(const graph::Features& features, at::Tensor vertices) {
  return std::make_shared<const HostStoredFeatures>(features, std::move(vertices));
}

}  // namespace gnomon::nn
