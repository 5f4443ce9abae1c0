#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace gnomon::kernels::cpu {

/// Copies the feature rows of `vertices` to `out`, vertices.size() x columns, in the features' element type.
/// Preconditions: `out` does not overlap the features; the vertices are valid row indices (unchecked).
void gather_rows(const graph::Features& features, std::span<const graph::VertexId> vertices, std::byte* out);

/// Copies rows of `row_bytes` bytes each, whatever their element type. Preconditions as above.
void gather_rows(const std::byte* rows, std::int64_t row_bytes, std::span<const graph::VertexId> vertices,
                 std::byte* out);

/// Copies labels[v] of each vertex v to `out`, as int64 for torch's cross-entropy.
void gather_labels(std::span<const std::int32_t> labels, std::span<const graph::VertexId> vertices,
                   std::int64_t* out);

/// Writes each vertex's in-degree in the whole graph to `degrees`.
void gather_degrees(const graph::Graph& graph, std::span<const graph::VertexId> vertices, float* degrees);

}  // namespace gnomon::kernels::cpu
