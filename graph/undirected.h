#pragma once

#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "graph/store/csc_builder.h"

namespace gnomon::graph {

/// Builds the undirected graph: every edge in both directions, without duplicates, self-loops and weights.
/// Returns its row pointers (num_vertices + 1); the first row_pointers.back() elements of the allocated
/// buffers are the neighbours, ascending in each row. Intermediate data stay in memory. Throws as build_csc.
std::vector<std::int64_t> build_undirected(const Graph& graph, const AllocateEdges& allocate,
                                           const base::Progress& progress = {});

}  // namespace gnomon::graph
