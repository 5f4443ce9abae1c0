#include "graph/undirected.h"

#include <gtest/gtest.h>

#include <set>

#include "base/index.h"
#include "tests/fixtures/graphs.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

using base::at;

TEST(Undirected, HasEachEdgeInBothDirectionsOnce) {
  const test::RandomSeed seed;
  for (const auto& graph : {test::skewed_graph(120, seed), test::graph_of({{0, 1, 1}, {0}, {2}, {}})}) {
    std::vector<std::set<VertexId>> expected(at(graph.num_vertices()));
    for (VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
      for (const VertexId neighbour : graph.neighbours(vertex)) {
        if (neighbour != vertex) {
          expected[at(vertex)].insert(neighbour);
          expected[at(neighbour)].insert(vertex);
        }
      }
    }
    std::vector<std::uint32_t> ids;
    const auto begins = build_undirected(graph, [&](std::int64_t count) {
      ids.resize(at(count));
      return EdgeBuffers{nullptr, nullptr, ids.data()};
    });
    ASSERT_EQ(begins.size(), expected.size() + 1);
    for (std::size_t vertex = 0; vertex < expected.size(); ++vertex) {
      EXPECT_EQ(std::vector<VertexId>(ids.begin() + begins[vertex], ids.begin() + begins[vertex + 1]),
                std::vector<VertexId>(expected[vertex].begin(), expected[vertex].end()));
    }
  }
}

}  // namespace
}  // namespace gnomon::graph
