#include "nn/sparse/sparse_features.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/cpu/gather.h"
#include "kernels/cpu/sparse/sparse.h"
#include "kernels/cpu/sparse/sparse_dropout.h"
#include "nn/dense/chunks.h"
#include "nn/feature_types.h"
#include "nn/parallel.h"
#include "nn/values.h"

namespace gnomon::nn {
namespace {

SparseFeatures make_rows(std::int64_t columns, at::Tensor indptr, at::Tensor indices, at::Tensor values) {
  return {std::make_shared<const SparseBlock>(columns, std::move(indptr), std::move(indices)),
          std::move(values)};
}

kernels::cpu::EntryValues values_of_entries(const at::Tensor& values) {
  if (!values.defined()) {
    return {};
  }
  return {static_cast<const std::byte*>(values.const_data_ptr()), feature_type(values.scalar_type())};
}

SparseFeatures drop(const SparseFeatures& x, const kernels::DropoutRule& rule) {
  const auto rows = x.entries->by_destination();
  constexpr std::int64_t work_per_entry = 16;
  const auto kept = at::empty({rows.num_entries()}, at::kByte);
  auto* const bits = kept.mutable_data_ptr<std::uint8_t>();
  auto indptr = at::zeros({rows.num_rows() + 1}, at::kLong);
  auto* const ends = indptr.mutable_data_ptr<std::int64_t>();
  for_row_ranges(rows, work_per_entry, [&](kernels::cpu::RowRange range) {
    kernels::cpu::kept_entries(rule, rows, range, x.size(1), bits, ends + 1);
  });
  for (std::int64_t row = 0; row < rows.num_rows(); ++row) {
    ends[row + 1] += ends[row];
  }
  auto columns = at::empty({ends[rows.num_rows()]}, at::kInt);
  auto values = at::empty({ends[rows.num_rows()]}, at::kFloat);
  const auto from = values_of_entries(x.values);
  for_row_ranges(rows, work_per_entry, [&](kernels::cpu::RowRange range) {
    kernels::cpu::copy_kept(rows, range, from, rule.scale(), bits, ends,
                            columns.mutable_data_ptr<std::int32_t>(), values.mutable_data_ptr<float>());
  });
  return make_rows(x.size(1), std::move(indptr), std::move(columns), std::move(values));
}

/// Rows whose products are summed in fp32 before they are added to those of the rows before.
constexpr std::int64_t rows_per_sum = 8192;

/// Adds the transposed product's rows in `columns`.
void add_transposed(const SparseFeatures& x, const at::Tensor& gradient, kernels::cpu::RowRange columns,
                    at::Tensor& sum, at::Tensor& part) {
  const auto rows = x.entries->by_destination();
  const auto own = [&](at::Tensor& of) { return of.narrow(0, columns.first, columns.last - columns.first); };
  for (std::int64_t first = 0; first < rows.num_rows(); first += rows_per_sum) {
    at::Tensor& to = first == 0 ? sum : part;
    own(to).zero_();
    kernels::cpu::spmm_transposed(rows, {first, std::min(first + rows_per_sum, rows.num_rows())}, columns,
                                  values_of(x.values), values_of(gradient), gradient.size(1), values_of(to));
    if (first > 0) {
      own(sum).add_(own(part));
    }
  }
}

}  // namespace

SparseFeatures sparse_rows(const graph::Features& features, std::int64_t first, std::int64_t count) {
  const std::int64_t begin = features.indptr[static_cast<std::size_t>(first)];
  const std::int64_t entries = features.indptr[static_cast<std::size_t>(first + count)] - begin;
  // from_blob takes no const; nothing writes to them.
  auto* columns = const_cast<std::int32_t*>(features.entry_columns.data()) + begin;
  auto* indptr = const_cast<std::int64_t*>(features.indptr.data()) + first;
  at::Tensor values;
  if (features.data != nullptr) {
    auto* data = const_cast<std::byte*>(features.data) + begin * bytes_of(features.type);
    values = at::from_blob(data, {entries}, scalar_type(features.type));
  }
  return make_rows(features.columns, at::from_blob(indptr, {count + 1}, at::kLong) - begin,
                   at::from_blob(columns, {entries}, at::kInt), values);
}

SparseFeatures gathered_rows(const graph::Features& features, std::span<const graph::VertexId> vertices) {
  auto indptr = at::empty({std::ssize(vertices) + 1}, at::kLong);
  auto* const begins = indptr.mutable_data_ptr<std::int64_t>();
  kernels::cpu::gather_row_pointers(features, vertices, begins);
  const std::int64_t entries = begins[vertices.size()];
  auto columns = at::empty({entries}, at::kInt);
  const auto values =
      features.data == nullptr ? at::Tensor() : at::empty({entries}, scalar_type(features.type));
  auto* const bytes = features.data == nullptr ? nullptr : static_cast<std::byte*>(values.mutable_data_ptr());
  constexpr std::int64_t alignment = 256;
  for_aligned_ranges(std::ssize(vertices), alignment, [&](std::int64_t first, std::int64_t count) {
    const auto own = vertices.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    kernels::cpu::gather_entries(features, own, columns.mutable_data_ptr<std::int32_t>() + begins[first],
                                 bytes + begins[first] * bytes_of(features.type));
  });
  return make_rows(features.columns, std::move(indptr), std::move(columns), values);
}

SparseFeatures dropped(const SparseFeatures& x, const kernels::DropoutRule& rule) {
  if (rule.threshold > 0) {
    return drop(x, rule);
  }
  return {x.entries, x.values.defined() ? x.values.to(at::kFloat) : x.values};
}

SparseFeatures first_rows(const SparseFeatures& x, std::int64_t count) {
  const auto& block = *x.entries;
  const auto entries = block.indptr()[count].item<std::int64_t>();
  return {std::make_shared<const SparseBlock>(block.num_sources(), block.indptr().narrow(0, 0, count + 1),
                                              block.indices().narrow(0, 0, entries), block.kernels()),
          x.values.defined() ? x.values.narrow(0, 0, entries) : x.values};
}

SparseFeatures on_device(const SparseFeatures& x, at::Device device) {
  return make_rows(x.size(1), x.entries->indptr().to(device), x.entries->indices().to(device),
                   x.values.defined() ? x.values.to(device) : x.values);
}

at::Tensor product(const SparseFeatures& x, const at::Tensor& weight) {
  const auto& block = *x.entries;
  if (!x.values.defined()) {
    return block.kernels().spmm(block, RowsOf::destinations, {}, {}, weight.contiguous());
  }
  return block.kernels()
      .spmm_weighted(block, RowsOf::destinations, x.values.unsqueeze(1), weight.contiguous().unsqueeze(1))
      .squeeze(1);
}

at::Tensor transposed_product(const SparseFeatures& x, const at::Tensor& gradient) {
  const auto& block = *x.entries;
  if (!block.device().is_cpu()) {
    return x.values.defined()
               ? block.kernels()
                     .spmm_weighted(block, RowsOf::sources, x.values.unsqueeze(1), gradient.unsqueeze(1))
                     .squeeze(1)
               : block.kernels().spmm(block, RowsOf::sources, {}, {}, gradient);
  }
  constexpr std::int64_t min_work = 1 << 17;  // of a thread, in additions
  const auto parts =
      std::clamp<std::int64_t>(block.num_edges() * gradient.size(1) / min_work, 1, at::get_num_threads());
  const auto ranges = kernels::cpu::balanced_columns(block.by_destination(), x.size(1), parts);
  auto sum =
      x.size(0) == 0 ? at::zeros({x.size(1), gradient.size(1)}) : at::empty({x.size(1), gradient.size(1)});
  auto part = x.size(0) > rows_per_sum ? at::empty_like(sum) : at::Tensor();
  for_each_chunk(parts, 1, [&](std::int64_t range, std::int64_t) {
    add_transposed(x, gradient, ranges[static_cast<std::size_t>(range)], sum, part);
  });
  return sum;
}

at::Tensor to_dense(const SparseFeatures& x) {
  const auto& block = *x.entries;
  const auto options = at::TensorOptions(at::kFloat).device(block.device());
  const auto values = x.values.defined() ? x.values.to(at::kFloat) : at::ones({block.num_edges()}, options);
  const auto rows = at::arange(x.size(0), options.dtype(at::kLong)).repeat_interleave(block.indptr().diff());
  auto dense = at::zeros({x.size(0), x.size(1)}, options);
  return dense.index_put_({rows, block.indices().to(at::kLong)}, values);
}

}  // namespace gnomon::nn
