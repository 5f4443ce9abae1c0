#include "kernels/cpu/gather.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/prefetch.h"

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

}  // namespace

void gather_rows(const graph::Features& features, std::span<const graph::VertexId> vertices, std::byte* out) {
  gather_rows(features.data, features.row_bytes(), vertices, out);
}

void gather_rows(const std::byte* rows, std::int64_t row_bytes, std::span<const graph::VertexId> vertices,
                 std::byte* out) {
  constexpr std::size_t prefetch_distance = 16;
  if (row_bytes == 0) {
    return;
  }
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (i + prefetch_distance < vertices.size()) {
      prefetch_row(rows + vertices[i + prefetch_distance] * row_bytes, row_bytes);
    }
    std::memcpy(out, rows + vertices[i] * row_bytes, static_cast<std::size_t>(row_bytes));
    out += row_bytes;
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
                 [&](graph::VertexId vertex) { return static_cast<float>(graph.degree(vertex)); });
}

}  // namespace gnomon::kernels::cpu
