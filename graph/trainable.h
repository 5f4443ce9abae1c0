#pragma once

#include <string>

#include "graph/graph.h"

namespace gnomon::graph {

/// Names an array in errors: "DIRECTORY/labels.npy" for a store, "NAME: labels" for a graph in memory.
std::string where_of(const Graph& graph, const std::string& array);

/// Throws InputError that names the array if the graph has no features, no labels or no training vertices, or
/// if a training vertex has no label.
void check_trainable(const Graph& graph);

}  // namespace gnomon::graph
