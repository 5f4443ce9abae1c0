#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "graph/graph.h"

namespace gnomon::kernels::cpu {

/// Returns the size in bytes from which gathered rows are written past the caches: 1/32 of the last-level
/// cache, which the mini-batches in flight on all cores share, at least 1 MiB. Smaller outputs may still be
/// in the cache when they are read. The share was chosen by measurements on one kind of processor.
std::int64_t min_streamed_bytes();

/// Copies the rows of `vertices` of dense features to `out`, vertices.size() x columns, in the features'
/// element type. Preconditions: `out` does not overlap the features; the vertices are valid row indices
/// (unchecked).
void gather_rows(const graph::Features& features, std::span<const graph::VertexId> vertices, std::byte* out);

/// Copies rows of `row_bytes` bytes each, whatever their element type. Preconditions as above.
void gather_rows(const std::byte* rows, std::int64_t row_bytes, std::span<const graph::VertexId> vertices,
                 std::byte* out);

/// Writes the row pointers of the CSR matrix of the vertices' sparse feature rows, vertices.size() + 1
/// elements from 0 on, to `indptr`.
void gather_row_pointers(const graph::Features& features, std::span<const graph::VertexId> vertices,
                         std::int64_t* indptr);

/// Copies the entries of the vertices' sparse feature rows, one row after the other: the columns and, unless
/// all are 1, the values in the features' type. Preconditions as for gather_rows.
void gather_entries(const graph::Features& features, std::span<const graph::VertexId> vertices,
                    std::int32_t* columns, std::byte* values);

/// Copies labels[v] of each vertex v to `out`, as int64 for torch's cross-entropy.
void gather_labels(std::span<const std::int32_t> labels, std::span<const graph::VertexId> vertices,
                   std::int64_t* out);

/// Writes each vertex's in-degree in the whole graph to `degrees`.
void gather_degrees(const graph::Graph& graph, std::span<const graph::VertexId> vertices, float* degrees);

}  // namespace gnomon::kernels::cpu
