#include "graph/generate/small_graphs.h"

namespace gnomon::graph {

std::vector<Edge> path_edges(std::int64_t vertices) {
  std::vector<Edge> edges;
  for (VertexId vertex = 0; vertex + 1 < vertices; ++vertex) {
    edges.push_back({vertex, vertex + 1});
  }
  return edges;
}

std::vector<Edge> ring_edges(std::int64_t vertices) {
  auto edges = path_edges(vertices);
  edges.push_back({vertices - 1, 0});
  return edges;
}

std::vector<Edge> star_edges(std::int64_t vertices) {
  std::vector<Edge> edges;
  for (VertexId vertex = 1; vertex < vertices; ++vertex) {
    edges.push_back({vertex, 0});
  }
  return edges;
}

std::vector<Edge> complete_edges(std::int64_t vertices) {
  std::vector<Edge> edges;
  for (VertexId one = 0; one < vertices; ++one) {
    for (VertexId other = one + 1; other < vertices; ++other) {
      edges.push_back({one, other});
    }
  }
  return edges;
}

}  // namespace gnomon::graph
