#include "kernels/cpu/gather.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/cache_bytes.h"
#include "hwy/cache_control.h"
#include "kernels/cpu/prefetch.h"
#include "kernels/cpu/stream_copy.h"

namespace gnomon::kernels::cpu {
namespace {

// Prefetches the first cache lines of a row; the hardware prefetcher streams the rest.
void prefetch_row(const std::byte* row, std::int64_t bytes) {
  constexpr std::int64_t line_bytes = 64;
  constexpr std::int64_t max_bytes = 8 * line_bytes;
  for (std::int64_t offset = 0; offset < std::min(bytes, max_bytes); offset += line_bytes) {
    prefetch_far(row + offset);
  }
}

/// Calls copy(row, out of the row) for each vertex, whose rows are prefetched.
template <class Copy>
void for_each_row(const std::byte* rows, std::int64_t row_bytes, std::span<const graph::VertexId> vertices,
                  std::byte* out, const Copy& copy) {
  constexpr std::size_t prefetch_distance = 16;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (i + prefetch_distance < vertices.size()) {
      prefetch_row(rows + vertices[i + prefetch_distance] * row_bytes, row_bytes);
    }
    copy(rows + vertices[i] * row_bytes, out);
    out += row_bytes;
  }
}

/// Rows of one element each, as labels and masks have them.
template <class Element>
void gather_elements(const std::byte* rows, std::span<const graph::VertexId> vertices, std::byte* out) {
  for_each_row(rows, sizeof(Element), vertices, out,
               [](const std::byte* row, std::byte* to) { std::memcpy(to, row, sizeof(Element)); });
}

}  // namespace

std::int64_t min_streamed_bytes() {
  constexpr std::size_t least = 1 << 20;  // also if the size of the cache is unknown
  static const std::size_t bytes = std::max(least, base::cache_bytes(_SC_LEVEL3_CACHE_SIZE, 0) / 32);
  return static_cast<std::int64_t>(bytes);
}

void gather_rows(const graph::Features& features, std::span<const graph::VertexId> vertices, std::byte* out) {
  gather_rows(features.data, features.row_bytes(), vertices, out);
}

void gather_rows(const std::byte* rows, std::int64_t row_bytes, std::span<const graph::VertexId> vertices,
                 std::byte* out) {
  switch (row_bytes) {
    case 0:
      return;
    case 1:
      return gather_elements<std::uint8_t>(rows, vertices, out);
    case 4:
      return gather_elements<std::uint32_t>(rows, vertices, out);
    case 8:
      return gather_elements<std::uint64_t>(rows, vertices, out);
    default:
      break;
  }
  if (std::ssize(vertices) * row_bytes < min_streamed_bytes()) {
    for_each_row(rows, row_bytes, vertices, out, [row_bytes](const std::byte* row, std::byte* to) {
      std::memcpy(to, row, static_cast<std::size_t>(row_bytes));
    });
  } else {
    for_each_row(rows, row_bytes, vertices, out,
                 [row_bytes](const std::byte* row, std::byte* to) { stream_copy(row, row_bytes, to); });
    hwy::FlushStream();
  }
}

void gather_row_pointers(const graph::Features& features, std::span<const graph::VertexId> vertices,
                         std::int64_t* indptr) {
  const std::int64_t* of_vertex = features.indptr.data();
  indptr[0] = 0;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    indptr[i + 1] = indptr[i] + of_vertex[vertices[i] + 1] - of_vertex[vertices[i]];
  }
}

void gather_entries(const graph::Features& features, std::span<const graph::VertexId> vertices,
                    std::int32_t* columns, std::byte* values) {
  constexpr std::size_t prefetch_distance = 8;
  constexpr auto column_bytes = std::int64_t{sizeof(std::int32_t)};
  const std::int64_t value_bytes = features.data == nullptr ? 0 : bytes_of(features.type);
  const std::int64_t* indptr = features.indptr.data();
  const std::int32_t* from = features.entry_columns.data();
  const auto bytes_of_row = [&](graph::VertexId vertex, std::int64_t entry_bytes) {
    return (indptr[vertex + 1] - indptr[vertex]) * entry_bytes;
  };
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (i + prefetch_distance < vertices.size()) {
      const auto ahead = vertices[i + prefetch_distance];
      prefetch_row(reinterpret_cast<const std::byte*>(from + indptr[ahead]),
                   bytes_of_row(ahead, column_bytes));
      prefetch_row(features.data + indptr[ahead] * value_bytes, bytes_of_row(ahead, value_bytes));
    }
    const auto vertex = vertices[i];
    const std::int64_t entries = indptr[vertex + 1] - indptr[vertex];
    std::copy_n(from + indptr[vertex], entries, columns);
    columns += entries;
    if (value_bytes > 0) {
      std::copy_n(features.data + indptr[vertex] * value_bytes, entries * value_bytes, values);
      values += entries * value_bytes;
    }
  }
}

void gather_labels(std::span<const std::int32_t> labels, std::span<const graph::VertexId> vertices,
                   std::int64_t* out) {
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    out[i] = labels[static_cast<std::size_t>(vertices[i])];
  }
}

void gather_degrees(const graph::Graph& graph, std::span<const graph::VertexId> vertices, float* degrees) {
  std::transform(vertices.begin(), vertices.end(), degrees,
                 [&](graph::VertexId vertex) { return static_cast<float>(graph.whole_degree(vertex)); });
}

}  // namespace gnomon::kernels::cpu
