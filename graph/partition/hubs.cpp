#include "graph/partition/hubs.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/index.h"
#include "graph/visit_lists.h"

namespace gnomon::graph {

using base::at;

std::vector<double> influence_on_training(const Graph& graph, int steps, const base::Progress& progress) {
  std::vector<double> influence(at(graph.num_vertices()), 0);
  for (const VertexId vertex : graph.train) {
    influence[at(vertex)] = 1;
  }
  std::vector<double> next(influence.size());
  for (int step = 0; step < steps; ++step) {
    std::fill(next.begin(), next.end(), 0);
    visit_lists(graph, {"finding hubs", step, steps}, progress, [&](VertexId vertex, auto neighbours) {
      const double share = influence[at(vertex)];
      if (share == 0) {
        return;
      }
      next[at(vertex)] += neighbours.empty() ? share : share / 2;
      for (const auto neighbour : neighbours) {
        next[static_cast<std::size_t>(neighbour)] += share / 2 / static_cast<double>(neighbours.size());
      }
    });
    influence.swap(next);
  }
  return influence;
}

std::int64_t num_hubs(double ratio, std::int64_t num_vertices) {
  return std::llround(ratio * static_cast<double>(num_vertices));
}

std::vector<VertexId> most_influential(const std::vector<double>& influence, std::int64_t count) {
  std::vector<VertexId> vertices(influence.size());
  std::iota(vertices.begin(), vertices.end(), 0);
  std::partial_sort(vertices.begin(), vertices.begin() + count, vertices.end(), [&](VertexId a, VertexId b) {
    return influence[at(a)] > influence[at(b)] || (influence[at(a)] == influence[at(b)] && a < b);
  });
  vertices.resize(at(count));
  return vertices;
}

std::vector<VertexId> hubs_of(const std::vector<double>& influence, std::int64_t count) {
  auto vertices = most_influential(influence, count);
  std::sort(vertices.begin(), vertices.end());
  return vertices;
}

}  // namespace gnomon::graph
