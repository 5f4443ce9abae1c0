#pragma once

#include <vector>

#include "base/index.h"
#include "graph/graph.h"
#include "graph/visit_lists.h"

namespace gnomon::graph {

/// The number of adjacency lists that hold each vertex. Pages of mapped lists are released.
template <class Count>
std::vector<Count> out_degrees(const Graph& graph) {
  std::vector<Count> degrees(base::at(graph.num_vertices()));
  visit_lists(graph, {}, {}, [&degrees](VertexId, const auto& neighbours) {
    for (const auto neighbour : neighbours) {
      ++degrees[static_cast<std::size_t>(neighbour)];
    }
  });
  return degrees;
}

}  // namespace gnomon::graph
