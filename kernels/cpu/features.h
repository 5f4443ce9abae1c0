#pragma once

#include "graph/graph.h"

namespace gnomon::kernels::cpu {

/// Whether the graph has features and a copy would take at most half of the memory that is available.
bool can_copy_features(const graph::Graph& graph);

/// The graph with features of its own on huge pages, made by all cores. Rows are gathered from random places:
/// in a mapped file, on small pages, the address of nearly each has to be looked up in memory first. Pages
/// are placed by the threads that copy.
graph::Graph with_copied_features(const graph::Graph& graph);

}  // namespace gnomon::kernels::cpu
