#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/cpu/sparse/sparse.h"
#include "nn/parallel.h"
#include "nn/sparse/sparse_block.h"
#include "nn/tensor_view.h"
#include "nn/values.h"

namespace gnomon::nn {
namespace {

using at::Tensor;

template <class T>
std::span<T> elements_of(Tensor& tensor) {
  return {tensor.mutable_data_ptr<T>(), static_cast<std::size_t>(tensor.numel())};
}

kernels::cpu::SparseRows rows_of(const SparseBlock& block, RowsOf side) {
  return side == RowsOf::destinations ? block.by_destination() : block.by_source();
}

/// The number of parts in which a block is transposed: each is worth a thread, and their counts take no more
/// memory than the entries.
int parts_of_transpose(const SparseBlock& block) {
  constexpr std::int64_t min_entries = 1 << 15;
  const std::int64_t entries = block.num_edges();
  const std::int64_t by_memory = 2 * entries / std::max<std::int64_t>(1, block.num_sources());
  return static_cast<int>(std::clamp<std::int64_t>(std::min(entries / min_entries, by_memory), 1,
                                                   at::in_parallel_region() ? 1 : at::get_num_threads()));
}

class CpuSparseKernels final : public SparseKernels {
 public:
  Tensor spmm(const SparseBlock& block, RowsOf side, const Tensor& row_scale, const Tensor& column_scale,
              const Tensor& x) const override {
    const auto rows = rows_of(block, side);
    const std::int64_t width = x.size(1);
    Tensor y = at::empty({rows.num_rows(), width}, x.options());
    const kernels::cpu::Scales scales{values_of(row_scale), values_of(column_scale)};
    for_row_ranges(rows, width, [&](kernels::cpu::RowRange range) {
      kernels::cpu::spmm(rows, range, scales, values_of(x), width, values_of(y));
    });
    return y;
  }

  Tensor spmm_weighted(const SparseBlock& block, RowsOf side, const Tensor& weights,
                       const Tensor& x) const override {
    const auto rows = rows_of(block, side);
    const kernels::cpu::Heads heads{x.size(1), x.size(2)};
    Tensor y = at::empty({rows.num_rows(), heads.count, heads.width}, x.options());
    for_row_ranges(rows, heads.count * heads.width, [&](kernels::cpu::RowRange range) {
      kernels::cpu::spmm_weighted(rows, range, heads, values_of(weights), values_of(x), values_of(y));
    });
    return y;
  }

  Tensor sum_edges(const SparseBlock& block, RowsOf side, const Tensor& values) const override {
    const auto rows = rows_of(block, side);
    Tensor y = at::empty({rows.num_rows(), values.size(1)}, values.options());
    for_row_ranges(rows, values.size(1), [&](kernels::cpu::RowRange range) {
      kernels::cpu::sum_edges(rows, range, values.size(1), values_of(values), values_of(y));
    });
    return y;
  }

  Tensor sddmm_add(const SparseBlock& block, const Tensor& row_scores,
                   const Tensor& column_scores) const override {
    const auto rows = block.by_destination();
    const auto heads = row_scores.size(1);
    Tensor y = at::empty({rows.num_entries(), heads}, row_scores.options());
    for_row_ranges(rows, heads, [&](kernels::cpu::RowRange range) {
      kernels::cpu::sddmm_add(rows, range, heads, values_of(row_scores), values_of(column_scores),
                              values_of(y));
    });
    return y;
  }

  Tensor sddmm_dot(const SparseBlock& block, const Tensor& row_values,
                   const Tensor& column_values) const override {
    const auto rows = block.by_destination();
    const kernels::cpu::Heads heads{row_values.size(1), row_values.size(2)};
    Tensor y = at::empty({rows.num_entries(), heads.count}, row_values.options());
    for_row_ranges(rows, heads.count * heads.width, [&](kernels::cpu::RowRange range) {
      kernels::cpu::sddmm_dot(rows, range, heads, values_of(row_values), values_of(column_values),
                              values_of(y));
    });
    return y;
  }

  Tensor edge_softmax(const SparseBlock& block, const Tensor& logits) const override {
    const auto rows = block.by_destination();
    Tensor y = at::empty_like(logits);
    for_row_ranges(rows, 8 * logits.size(1), [&](kernels::cpu::RowRange range) {
      kernels::cpu::edge_softmax(rows, range, logits.size(1), values_of(logits), values_of(y));
    });
    return y;
  }

  Tensor edge_softmax_backward(const SparseBlock& block, const Tensor& softmax,
                               const Tensor& gradient) const override {
    const auto rows = block.by_destination();
    Tensor y = at::empty_like(softmax);
    for_row_ranges(rows, 2 * softmax.size(1), [&](kernels::cpu::RowRange range) {
      kernels::cpu::edge_softmax_backward(rows, range, softmax.size(1), values_of(softmax),
                                          values_of(gradient), values_of(y));
    });
    return y;
  }

  Tensor inverse_degrees(const SparseBlock& block) const override {
    const auto inverse = std::make_shared<const std::vector<float>>(
        kernels::cpu::inverse_degrees(block.by_destination().indptr));
    return tensor_view(*inverse, inverse);
  }

  Tensor rows_of_entries(const SparseBlock&) const override {
    TORCH_CHECK(false, "the CPU kernels iterate over rows and do not need it");
  }

  TransposedTensors transpose(const SparseBlock& block) const override {
    // Tensors rather than vectors, because the caching allocator reuses their memory.
    TransposedTensors made{at::empty({block.num_sources() + 1}, at::kLong),
                           at::empty({block.num_edges()}, at::kInt), at::empty({block.num_edges()}, at::kInt),
                           at::Tensor()};
    const kernels::cpu::TransposedSpans spans{elements_of<std::int64_t>(made.indptr),
                                              elements_of<std::int32_t>(made.destinations),
                                              elements_of<std::int32_t>(made.edges)};
    const int parts = parts_of_transpose(block);
    if (parts == 1) {
      kernels::cpu::transpose(block.by_destination(), spans);
      return made;
    }
    Tensor places = at::empty({parts, block.num_sources()}, at::kInt);
    kernels::cpu::transpose(block.by_destination(), spans, elements_of<std::int32_t>(places), parts,
                            for_parts);
    return made;
  }

  BlockTensors with_self_loops(const SparseBlock& block) const override {
    const auto rows = block.by_destination();
    const std::int64_t* destinations =
        block.destinations().defined() ? block.destinations().const_data_ptr<std::int64_t>() : nullptr;
    const auto own_id = [destinations](std::int64_t row) {
      return static_cast<std::int32_t>(destinations == nullptr ? row : destinations[row]);
    };
    const auto columns_of = [&rows](std::int64_t row) {
      const auto begin = static_cast<std::size_t>(rows.indptr[static_cast<std::size_t>(row)]);
      return rows.columns.subspan(
          begin, static_cast<std::size_t>(rows.indptr[static_cast<std::size_t>(row) + 1]) - begin);
    };
    BlockTensors looped{at::zeros({rows.num_rows() + 1}, at::kLong), {}};
    auto* const ends = looped.indptr.mutable_data_ptr<std::int64_t>() + 1;
    for_row_ranges(rows, 1, [&](kernels::cpu::RowRange range) {
      for (std::int64_t row = range.first; row < range.last; ++row) {
        const auto columns = columns_of(row);
        const bool has_loop = std::find(columns.begin(), columns.end(), own_id(row)) != columns.end();
        ends[row] = std::ssize(columns) + (has_loop ? 0 : 1);
      }
    });
    std::inclusive_scan(ends, ends + rows.num_rows(), ends);
    looped.indices = at::empty({rows.num_rows() == 0 ? 0 : ends[rows.num_rows() - 1]}, at::kInt);
    auto* const indices = looped.indices.mutable_data_ptr<std::int32_t>();
    for_row_ranges(rows, 1, [&](kernels::cpu::RowRange range) {
      for (std::int64_t row = range.first; row < range.last; ++row) {
        const auto columns = columns_of(row);
        auto* const end = std::copy(columns.begin(), columns.end(), indices + ends[row - 1]);
        if (end != indices + ends[row]) {
          *end = own_id(row);
        }
      }
    });
    return looped;
  }
};

}  // namespace

const SparseKernels& cpu_sparse_kernels() {
  static const CpuSparseKernels kernels;
  return kernels;
}

}  // namespace gnomon::nn
