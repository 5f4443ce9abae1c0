#include "graph/undirected.h"

#include "graph/edge_stream.h"

namespace gnomon::graph {

std::vector<std::int64_t> build_undirected(const Graph& graph, const AllocateEdges& allocate,
                                           const base::Progress& progress) {
  return build_csc(
      {graph.num_vertices(), {true, SelfLoops::remove, Duplicates::remove}, false, graph.name, {}},
      edges_as(graph, [](VertexId id) { return id; }), allocate, progress);
}

}  // namespace gnomon::graph
