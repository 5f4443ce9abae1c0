#pragma once

#include <ATen/ATen.h>

#include <utility>
#include <vector>

#include "kernels/device/gcn.h"
#include "kernels/device/sparse.h"
#include "nn/sparse/device_gat_kernels.h"
#include "nn/sparse/device_rows.h"
#include "nn/sparse/sparse_block.h"

namespace gnomon::nn {

/// Implements SparseKernels by the kernels of kernels/device. `Launches` provides
///     auto begin(const at::Tensor& on) const;
/// which returns an object whose member `executor` runs one operation's kernels on the tensor's device.
template <class Launches>
class DeviceSparseKernels final : public SparseKernels {
 public:
  explicit DeviceSparseKernels(Launches launches = {}) : launches_(launches), gat_(std::move(launches)) {}

  at::Tensor spmm(const SparseBlock& block, RowsOf side, const at::Tensor& row_scale,
                  const at::Tensor& column_scale, const at::Tensor& x) const override {
    const auto rows = rows_of(block, side);
    auto y = at::empty({rows.num_rows, x.size(1)}, x.options());
    auto launch = launches_.begin(x);
    kernels::device::spmm(launch.executor, rows,
                          kernels::device::Scales{values(row_scale), values(column_scale)}, values(x),
                          x.size(1), y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor own_and_mean(const SparseBlock& block, const at::Tensor& x) const override {
    auto y = at::empty({block.num_destinations(), 2 * x.size(1)}, x.options());
    auto launch = launches_.begin(x);
    kernels::device::own_and_mean(launch.executor, device_rows(block), values(x), x.size(1),
                                  y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor own_and_mean_gradient(const SparseBlock& block, const at::Tensor& gradient) const override {
    const std::int64_t width = gradient.size(1) / 2;
    auto of_x = at::empty({block.num_sources(), width}, gradient.options());
    const auto sources = rows_of(block, RowsOf::sources);
    auto launch = launches_.begin(gradient);
    kernels::device::own_and_mean_gradient(launch.executor, sources, device_rows(block), values(gradient),
                                           width, of_x.template mutable_data_ptr<float>());
    return of_x;
  }

  at::Tensor gcn_propagate(const SparseBlock& block, const at::Tensor& degrees,
                           const at::Tensor& x) const override {
    auto y = at::empty({block.num_destinations(), x.size(1)}, x.options());
    auto launch = launches_.begin(x);
    kernels::device::gcn_propagate(launch.executor, device_rows(block), values(degrees), values(x), x.size(1),
                                   y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor gcn_propagate_gradient(const SparseBlock& block, const at::Tensor& degrees,
                                    const at::Tensor& gradient) const override {
    const std::int64_t width = gradient.size(1);
    auto of_x = at::empty({block.num_sources(), width}, gradient.options());
    const auto sources = rows_of(block, RowsOf::sources);
    auto launch = launches_.begin(gradient);
    kernels::device::gcn_propagate_gradient(launch.executor, sources, device_rows(block), values(degrees),
                                            values(gradient), width, of_x.template mutable_data_ptr<float>());
    return of_x;
  }

  at::Tensor spmm_weighted(const SparseBlock& block, RowsOf side, const at::Tensor& weights,
                           const at::Tensor& x) const override {
    const auto rows = rows_of(block, side);
    auto y = at::empty({rows.num_rows, x.size(1), x.size(2)}, x.options());
    auto launch = launches_.begin(x);
    kernels::device::spmm_weighted(launch.executor, rows, kernels::device::Heads{x.size(1), x.size(2)},
                                   values(weights), values(x), y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor sum_edges(const SparseBlock& block, RowsOf side, const at::Tensor& of_edges) const override {
    const auto rows = rows_of(block, side);
    auto y = at::empty({rows.num_rows, of_edges.size(1)}, of_edges.options());
    auto launch = launches_.begin(of_edges);
    kernels::device::sum_edges(launch.executor, rows, of_edges.size(1), values(of_edges),
                               y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor sddmm_add(const SparseBlock& block, const at::Tensor& row_scores,
                       const at::Tensor& column_scores) const override {
    const auto heads = row_scores.size(1);
    auto y = at::empty({block.num_edges(), heads}, row_scores.options());
    const auto* entries = rows_of_entries_of(block);
    auto launch = launches_.begin(row_scores);
    kernels::device::sddmm_add(launch.executor, rows_of(block), entries, heads, values(row_scores),
                               values(column_scores), y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor sddmm_dot(const SparseBlock& block, const at::Tensor& row_values,
                       const at::Tensor& column_values) const override {
    const kernels::device::Heads heads{row_values.size(1), row_values.size(2)};
    auto y = at::empty({block.num_edges(), heads.count}, row_values.options());
    const auto* entries = rows_of_entries_of(block);
    auto launch = launches_.begin(row_values);
    kernels::device::sddmm_dot(launch.executor, rows_of(block), entries, heads, values(row_values),
                               values(column_values), y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor edge_softmax(const SparseBlock& block, const at::Tensor& logits) const override {
    auto y = at::empty_like(logits);
    const auto* entries = rows_of_entries_of(block);
    auto launch = launches_.begin(logits);
    kernels::device::edge_softmax(launch.executor, rows_of(block), entries, logits.size(1), values(logits),
                                  y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor edge_softmax_backward(const SparseBlock& block, const at::Tensor& softmax,
                                   const at::Tensor& gradient) const override {
    auto y = at::empty_like(softmax);
    const auto* entries = rows_of_entries_of(block);
    auto launch = launches_.begin(softmax);
    kernels::device::edge_softmax_backward(launch.executor, rows_of(block), entries, softmax.size(1),
                                           values(softmax), values(gradient),
                                           y.template mutable_data_ptr<float>());
    return y;
  }

  at::Tensor inverse_degrees(const SparseBlock& block) const override {
    auto inverse = at::empty({block.num_destinations()}, block.indptr().options().dtype(at::kFloat));
    auto launch = launches_.begin(inverse);
    kernels::device::inverse_degrees(launch.executor, rows_of(block),
                                     inverse.template mutable_data_ptr<float>());
    return inverse;
  }

  at::Tensor rows_of_entries(const SparseBlock& block) const override {
    auto entries = at::empty_like(block.indices());
    auto launch = launches_.begin(entries);
    kernels::device::rows_of_entries(launch.executor, rows_of(block),
                                     entries.template mutable_data_ptr<std::int32_t>());
    return entries;
  }

  TransposedTensors transpose(const SparseBlock& block) const override {
    const auto made = room_for_transpose(block);
    const auto* entries = rows_of_entries_of(block);
    auto launch = launches_.begin(block.indices());
    kernels::device::transpose(launch.executor, rows_of(block), entries, block.num_sources(),
                               pointers_of(made));
    return made;
  }

  std::vector<TransposedTensors> transpose_together(const std::vector<SparseBlockPtr>& blocks,
                                                    bool with_loops) const override {
    std::vector<TransposedTensors> made(blocks.size());
    std::vector<kernels::device::BlockToTranspose> tasks;
    std::int64_t edges = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto& block = *blocks[i];
      if (tasks.size() == kernels::device::max_blocks_together ||
          edges + block.num_edges() > kernels::device::max_edges_together) {
        made[i] = transpose(block);
        made[i].loops = with_loops ? missing_loops(block) : at::Tensor();
        continue;
      }
      edges += block.num_edges();
      made[i] = room_for_transpose(block);
      tasks.push_back({device_rows(block), block.num_sources(), pointers_of(made[i])});
      if (with_loops) {
        made[i].loops = at::empty_like(block.indptr());
        tasks.back().loops = made[i].loops.template mutable_data_ptr<std::int64_t>();
      }
    }
    if (!tasks.empty()) {
      auto launch = launches_.begin(blocks.front()->indices());
      kernels::device::transpose_together(launch.executor, tasks.data(), static_cast<int>(tasks.size()));
    }
    return made;
  }

  at::Tensor missing_loops(const SparseBlock& block) const override {
    auto loops = at::empty_like(block.indptr());
    auto launch = launches_.begin(loops);
    kernels::device::missing_loops(launch.executor, device_rows(block),
                                   loops.template mutable_data_ptr<std::int64_t>());
    return loops;
  }

  BlockTensors with_self_loops(const SparseBlock& block) const override {
    TORCH_CHECK(!block.destinations().defined(), "devices take sampled blocks only");
    BlockTensors made{at::empty_like(block.indptr()),
                      at::empty({block.num_edges() + block.num_destinations()}, block.indices().options())};
    const auto* entries = rows_of_entries_of(block);
    auto launch = launches_.begin(block.indices());
    kernels::device::with_self_loops(launch.executor, rows_of(block), entries,
                                     made.indptr.template mutable_data_ptr<std::int64_t>(),
                                     made.indices.template mutable_data_ptr<std::int32_t>());
    return made;
  }

  const GatKernels* gat() const override { return &gat_; }

 private:
  static TransposedTensors room_for_transpose(const SparseBlock& block) {
    return {at::empty({block.num_sources() + 1}, block.indptr().options()), at::empty_like(block.indices()),
            at::empty_like(block.indices()), at::Tensor()};
  }
  static kernels::device::Transposed pointers_of(const TransposedTensors& tensors) {
    return {tensors.indptr.template mutable_data_ptr<std::int64_t>(),
            tensors.destinations.template mutable_data_ptr<std::int32_t>(),
            tensors.edges.template mutable_data_ptr<std::int32_t>()};
  }
  static const std::int32_t* rows_of_entries_of(const SparseBlock& block) {
    return block.rows_of_entries().const_data_ptr<std::int32_t>();
  }
  static kernels::device::SparseRows rows_of(const SparseBlock& block, RowsOf side = RowsOf::destinations) {
    if (side == RowsOf::destinations) {
      return device_rows(block);
    }
    const auto& made = block.transposed();
    return {block.num_sources(), block.num_edges(), made.indptr.const_data_ptr<std::int64_t>(),
            made.destinations.const_data_ptr<std::int32_t>(), made.edges.const_data_ptr<std::int32_t>()};
  }

  Launches launches_;
  DeviceGatKernels<Launches> gat_;
};

}  // namespace gnomon::nn
