// The sparse operations of gnomon.h.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/graph.h"
#include "kernels/cpu/sparse/sparse.h"
#include "python/c_api/gnomon.h"
#include "python/c_api/status.h"
#include "python/c_api/tensors.h"

namespace gnomon::c_api {
namespace {

using kernels::cpu::RowRange;
using kernels::cpu::SparseRows;

/// Below this, starting threads costs more than it saves.
constexpr std::int64_t min_elements_per_thread = std::int64_t{1} << 15;
/// Ranges per thread, for load balance.
constexpr std::int64_t ranges_per_thread = 4;

/// The elements of an array argument; null if it is NULL.
template <class T>
std::span<T> elements(T* data, std::int64_t count) {
  return {data, data == nullptr ? std::size_t{0} : static_cast<std::size_t>(count)};
}

SparseRows view_of(const gnomon_rows* rows) {
  require(rows, "rows");
  require(rows->indptr, "rows.indptr");
  return {elements(rows->indptr, rows->num_rows + 1), elements(rows->columns, rows->num_entries),
          elements(rows->edges, rows->num_entries)};
}

/// Ranges of rows, which the threads of an operation take dynamically.
struct Ranges {
  std::vector<RowRange> all;
  std::atomic<std::size_t> next{0};
  const std::function<void(RowRange)>& body;

  void run() {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      body(all[i]);
    }
  }
};

void for_row_ranges(const SparseRows& rows, const gnomon_threads* threads, std::int64_t width,
                    const std::function<void(RowRange)>& body) {
  const std::int64_t work = (rows.num_entries() + rows.num_rows()) * width;
  const std::int64_t wanted = threads == nullptr || threads->run == nullptr ? 1 : threads->count;
  const std::int64_t count =
      std::clamp<std::int64_t>(work / min_elements_per_thread, 1, std::max<std::int64_t>(wanted, 1));
  if (count == 1) {
    body({0, rows.num_rows()});
    return;
  }
  Ranges ranges{.all = kernels::cpu::balanced_ranges(rows.indptr, count * ranges_per_thread), .body = body};
  threads->run([](void* data) { static_cast<Ranges*>(data)->run(); }, &ranges, static_cast<unsigned>(count),
               0);
}

/// Runs `operation(rows, range)` on all rows. `width`: number of elements that each entry reads.
template <class Operation>
gnomon_status run(const gnomon_rows* given, const gnomon_threads* threads, std::int64_t width,
                  Operation operation) {
  return guarded([&] {
    if (width < 1) {
      throw base::InputError("width", "must be positive");
    }
    const SparseRows rows = view_of(given);
    for_row_ranges(rows, threads, width, [&](RowRange range) { operation(rows, range); });
    return GNOMON_OK;
  });
}

void check_sizes(std::int64_t num_sources, std::int64_t num_destinations, std::int64_t num_edges) {
  constexpr std::int64_t max = std::numeric_limits<std::int32_t>::max();
  if (std::min({num_sources, num_destinations, num_edges}) < 0 || std::max(num_sources, num_edges) > max) {
    throw base::InputError("edges", "numbers of vertices and edges must be 0 to 2^31 - 1");
  }
}

void fill_rows(std::int64_t num_sources, std::int64_t num_destinations, std::span<const std::int64_t> sources,
               std::span<const std::int64_t> destinations, std::int64_t* indptr, std::int32_t* columns) {
  std::int64_t row = -1;
  for (std::size_t e = 0; e < sources.size(); ++e) {
    if (sources[e] < 0 || sources[e] >= num_sources || destinations[e] < row ||
        destinations[e] >= num_destinations) {
      throw base::InputError("edge_index",
                             "must be sorted by destination, and have ids below the numbers of vertices");
    }
    while (row < destinations[e]) {
      indptr[++row] = static_cast<std::int64_t>(e);
    }
    columns[e] = static_cast<std::int32_t>(sources[e]);
  }
  std::fill(indptr + row + 1, indptr + num_destinations + 1, std::ssize(sources));
}

/// Views a matrix of the caller as features.
graph::Features features_of(const gnomon_dl_tensor* tensor) {
  require(tensor, "features");
  const auto type = feature_type(tensor->dtype);
  if (tensor->ndim != 2 || tensor->shape == nullptr || tensor->strides != nullptr || !type) {
    throw base::InputError("features", "must be a C-contiguous matrix of fp32, fp16 or bf16");
  }
  const auto* data = static_cast<const std::byte*>(tensor->data) + tensor->byte_offset;
  return {.data = data, .type = *type, .rows = tensor->shape[0], .columns = tensor->shape[1]};
}

void check_vertices(std::span<const std::int64_t> vertices, std::int64_t rows) {
  for (const std::int64_t vertex : vertices) {
    if (vertex < 0 || vertex >= rows) {
      throw base::InputError("vertices", std::to_string(vertex) + " is not a row of the features");
    }
  }
}

}  // namespace
}  // namespace gnomon::c_api

using namespace gnomon::c_api;
namespace cpu = gnomon::kernels::cpu;

extern "C" {

gnomon_status gnomon_rows_from_edges(int64_t num_sources, int64_t num_destinations, int64_t num_edges,
                                     const int64_t* sources, const int64_t* destinations, int64_t* indptr,
                                     int32_t* columns) {
  return guarded([&] {
    check_sizes(num_sources, num_destinations, num_edges);
    require(indptr, "indptr");
    fill_rows(num_sources, num_destinations, elements(sources, num_edges), elements(destinations, num_edges),
              indptr, columns);
    return GNOMON_OK;
  });
}

gnomon_status gnomon_rows_with_loops(const gnomon_rows* rows, int64_t* indptr, int32_t* columns) {
  return guarded([&] {
    const SparseRows from = view_of(rows);
    require(indptr, "indptr");
    require(columns, "columns");
    std::int64_t written = 0;
    for (std::int64_t row = 0; row < from.num_rows(); ++row) {
      indptr[row] = written;
      for (std::int64_t e = rows->indptr[row]; e < rows->indptr[row + 1]; ++e) {
        columns[written] = rows->columns[e];
        written += rows->columns[e] != row ? 1 : 0;
      }
      columns[written++] = static_cast<std::int32_t>(row);
    }
    indptr[from.num_rows()] = written;
    return GNOMON_OK;
  });
}

gnomon_status gnomon_rows_interleaved(const gnomon_rows* rows, int64_t* indptr, int32_t* columns) {
  return guarded([&] {
    const SparseRows from = view_of(rows);
    require(indptr, "indptr");
    if (from.num_rows() > 0) {
      require(columns, "columns");
    }
    std::int32_t* next = columns;
    for (std::int64_t row = 0; row < from.num_rows(); ++row) {
      indptr[2 * row] = next - columns;
      next = std::copy(rows->columns + rows->indptr[row], rows->columns + rows->indptr[row + 1], next);
      indptr[2 * row + 1] = next - columns;
      *next++ = static_cast<std::int32_t>(row);
    }
    indptr[2 * from.num_rows()] = next - columns;
    return GNOMON_OK;
  });
}

gnomon_status gnomon_rows_transpose(const gnomon_rows* rows, int64_t* indptr, int32_t* columns,
                                    int32_t* edges) {
  return guarded([&] {
    const SparseRows from = view_of(rows);
    require(indptr, "indptr");
    cpu::transpose(from, {elements(indptr, rows->num_columns + 1), elements(columns, rows->num_entries),
                          elements(edges, rows->num_entries)});
    return GNOMON_OK;
  });
}

gnomon_status gnomon_spmm(const gnomon_rows* rows, const gnomon_threads* threads, const float* row_scales,
                          const float* column_scales, const float* x, int64_t width, float* y) {
  return run(rows, threads, width, [&](const SparseRows& a, RowRange range) {
    cpu::spmm(a, range, {elements(row_scales, rows->num_rows), elements(column_scales, rows->num_columns)},
              elements(x, rows->num_columns * width), width, elements(y, rows->num_rows * width));
  });
}

gnomon_status gnomon_spmm_stored(const gnomon_rows* rows, const gnomon_threads* threads,
                                 const float* row_scales, const gnomon_dl_tensor* features,
                                 const int64_t* vertices, float* y) {
  return guarded([&] {
    require(rows, "rows");
    const auto stored = features_of(features);
    const auto columns = elements(vertices, rows->num_columns);
    check_vertices(columns, stored.rows);
    if (columns.empty() && rows->num_columns > stored.rows) {
      throw gnomon::base::InputError("features", "has fewer rows than the matrix has columns");
    }
    return run(rows, threads, stored.columns, [&](const SparseRows& a, RowRange range) {
      cpu::spmm_stored(a, range, {elements(row_scales, rows->num_rows), {}}, {stored, columns, {}},
                       elements(y, rows->num_rows * stored.columns));
    });
  });
}

gnomon_status gnomon_spmm_weighted(const gnomon_rows* rows, const gnomon_threads* threads, int64_t heads,
                                   int64_t width, const float* weights, const float* x, float* y) {
  return run(rows, threads, heads * width, [&](const SparseRows& a, RowRange range) {
    cpu::spmm_weighted(a, range, {heads, width}, elements(weights, rows->num_entries * heads),
                       elements(x, rows->num_columns * heads * width),
                       elements(y, rows->num_rows * heads * width));
  });
}

gnomon_status gnomon_sum_edges(const gnomon_rows* rows, const gnomon_threads* threads, int64_t heads,
                               const float* values, float* y) {
  return run(rows, threads, heads, [&](const SparseRows& a, RowRange range) {
    cpu::sum_edges(a, range, heads, elements(values, rows->num_entries * heads),
                   elements(y, rows->num_rows * heads));
  });
}

gnomon_status gnomon_sddmm_add(const gnomon_rows* rows, const gnomon_threads* threads, int64_t heads,
                               const float* row_scores, const float* column_scores, float* y) {
  return run(rows, threads, heads, [&](const SparseRows& a, RowRange range) {
    cpu::sddmm_add(a, range, heads, elements(row_scores, rows->num_rows * heads),
                   elements(column_scores, rows->num_columns * heads),
                   elements(y, rows->num_entries * heads));
  });
}

gnomon_status gnomon_sddmm_dot(const gnomon_rows* rows, const gnomon_threads* threads, int64_t heads,
                               int64_t width, const float* row_values, const float* column_values, float* y) {
  return run(rows, threads, heads * width, [&](const SparseRows& a, RowRange range) {
    cpu::sddmm_dot(a, range, {heads, width}, elements(row_values, rows->num_rows * heads * width),
                   elements(column_values, rows->num_columns * heads * width),
                   elements(y, rows->num_entries * heads));
  });
}

gnomon_status gnomon_edge_softmax(const gnomon_rows* rows, const gnomon_threads* threads, int64_t heads,
                                  const float* logits, float* y) {
  return run(rows, threads, heads, [&](const SparseRows& a, RowRange range) {
    cpu::edge_softmax(a, range, heads, elements(logits, rows->num_entries * heads),
                      elements(y, rows->num_entries * heads));
  });
}

gnomon_status gnomon_edge_softmax_backward(const gnomon_rows* rows, const gnomon_threads* threads,
                                           int64_t heads, const float* softmax, const float* gradient,
                                           float* y) {
  return run(rows, threads, heads, [&](const SparseRows& a, RowRange range) {
    const std::int64_t count = rows->num_entries * heads;
    cpu::edge_softmax_backward(a, range, heads, elements(softmax, count), elements(gradient, count),
                               elements(y, count));
  });
}

}  // extern "C"
