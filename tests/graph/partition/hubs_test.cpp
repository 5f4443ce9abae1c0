#include "graph/partition/hubs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/index.h"
#include "communities.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

using base::at;
using Matrix = std::vector<std::vector<double>>;

/// One step of the walk as a dense matrix: row u, column v is what u gets of v.
Matrix step_of(const Graph& graph) {
  const auto vertices = at(graph.num_vertices());
  Matrix matrix(vertices, std::vector<double>(vertices, 0));
  for (std::size_t v = 0; v < vertices; ++v) {
    const auto neighbours = graph.neighbours(static_cast<VertexId>(v));
    matrix[v][v] = neighbours.empty() ? 1 : 0.5;
    for (const VertexId u : neighbours) {
      matrix[at(u)][v] += 0.5 / static_cast<double>(neighbours.size());
    }
  }
  return matrix;
}

TEST(Hubs, InfluenceIsAPowerOfTheWalksMatrix) {
  const test::RandomSeed seed;
  const auto graph = test::with_labels(test::skewed_graph(80, seed), 2, seed);
  const auto matrix = step_of(graph);
  std::vector<double> expected(80, 0);
  for (const VertexId vertex : graph.train) {
    expected[at(vertex)] = 1;
  }
  for (int steps = 0; steps <= 4; ++steps) {
    const auto found = influence_on_training(graph, steps);
    for (std::size_t vertex = 0; vertex < expected.size(); ++vertex) {
      EXPECT_NEAR(found[vertex], expected[vertex], 1e-12);
    }
    EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), static_cast<double>(graph.train.size()),
                1e-9);
    std::vector<double> next(80, 0);
    for (std::size_t u = 0; u < 80; ++u) {
      next[u] = std::inner_product(expected.begin(), expected.end(), matrix[u].begin(), 0.0);
    }
    expected = next;
  }
}

TEST(Hubs, HaveTheLargestInfluenceAndOfEqualOnesTheLowestIds) {
  const std::vector<double> influence{0.5, 2, 0.5, 3, 0.5, 2};
  EXPECT_THAT(hubs_of(influence, 0), ::testing::IsEmpty());
  EXPECT_THAT(hubs_of(influence, 1), ::testing::ElementsAre(3));
  EXPECT_THAT(hubs_of(influence, 4), ::testing::ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(hubs_of(influence, 6), ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

}  // namespace
}  // namespace gnomon::graph
