#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace gnomon::kernels::cpu {

/// Copies the feature rows of `vertices` to `out`, row after row, in the features' own type:
/// vertices.size() x columns, row_bytes() each. `out` must not overlap the features. The vertices are
/// trusted to be rows of the features.
void gather_rows(const graph::Features& features, std::span<const graph::VertexId> vertices, std::byte* out);

/// Copies labels[v] of each vertex to `out` (int64, as cross-entropy takes them).
void gather_labels(std::span<const std::int32_t> labels, std::span<const graph::VertexId> vertices,
                   std::int64_t* out);

/// Writes the in-degree in the whole graph of each vertex to `degrees`.
void gather_degrees(const graph::Graph& graph, std::span<const graph::VertexId> vertices, float* degrees);

}  // namespace gnomon::kernels::cpu
