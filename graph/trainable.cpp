#include "graph/trainable.h"

#include "base/error.h"

namespace gnomon::graph {

std::string where_of(const Graph& graph, const std::string& array) {
  return graph.directory.empty() ? graph.name + ": " + array : (graph.directory / (array + ".npy")).string();
}

void check_trainable(const Graph& graph) {
  if (!graph.features.any() || graph.features.columns == 0) {
    throw base::InputError(where_of(graph, "features"), "is missing; training needs features");
  }
  if (graph.labels.empty()) {
    throw base::InputError(where_of(graph, "labels"), "is missing; training needs labels");
  }
  if (graph.train.empty()) {
    throw base::InputError(where_of(graph, "train"), "is empty; training needs at least one vertex");
  }
  for (const VertexId vertex : graph.train) {
    if (graph.labels[static_cast<std::size_t>(vertex)] < 0) {
      throw base::InputError(where_of(graph, "train"), "vertex " + std::to_string(vertex) +
                                                           " has no label (-1); training vertices need one");
    }
  }
}

}  // namespace gnomon::graph
