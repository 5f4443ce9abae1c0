#pragma once

#include "graph/graph.h"

namespace gnomon::kernels::cpu {

/// Whether the graph has features and a copy of them takes at most half of the available memory, less the
/// `others` bytes that will be needed, too.
bool can_copy_features(const graph::Graph& graph, std::int64_t others = 0);

/// Returns the graph with a copy of its features on huge pages. Gathering reads random rows; in a mapped file
/// with small pages nearly every row is a TLB miss. All cores copy, and each page is placed on the NUMA node
/// of the thread that copies it.
graph::Graph with_copied_features(const graph::Graph& graph);

}  // namespace gnomon::kernels::cpu
