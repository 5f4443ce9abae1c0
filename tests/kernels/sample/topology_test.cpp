#include "kernels/cpu/sample/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/cpu/sample/sampler.h"
#include "tests/fixtures/graphs.h"

namespace gnomon::kernels::cpu {
namespace {

/// A graph whose ids are held with 32 bits, as stores do.
struct NarrowGraph {
  explicit NarrowGraph(const graph::Graph& wide)
      : ids(wide.indices.begin(), wide.indices.end()), graph(wide) {
    graph.indices = graph::Indices(std::span<const std::uint32_t>(ids));
  }
  std::vector<std::uint32_t> ids;
  graph::Graph graph;
};

TEST(Topology, ViewsIdsAsTheyAreStored) {
  const auto wide = test::skewed_graph(300, 5);
  const NarrowGraph narrow(wide);
  const auto view = view_of(narrow.graph);
  EXPECT_EQ(view.narrow_indices.data(), narrow.ids.data()) << "no copy";
  EXPECT_TRUE(view.indices.empty());
  EXPECT_EQ(view_of(wide).indices.data(), wide.indices.wide().data());
  EXPECT_TRUE(std::ranges::equal(resident_copy(narrow.graph).narrow_indices, narrow.ids));
  EXPECT_TRUE(std::ranges::equal(resident_copy(wide).narrow_indices, narrow.ids));
}

TEST(Topology, MiniBatchesDoNotDependOnTheWidth) {
  const auto wide = test::with_random_weights(test::skewed_graph(500, 9), 3, 4);
  const NarrowGraph narrow(wide);
  const std::vector<graph::VertexId> seeds{3, 77, 1, 499, 250};
  for (const auto draws : {Draws::uniform, Draws::by_weight}) {
    for (const bool copied : {false, true}) {
      const auto batch_of = [&](const graph::Graph& graph) {
        Sampler sampler(copied ? resident_copy(graph, draws) : view_of(graph, draws), {4, 3});
        MiniBatch batch;
        sampler.sample({1, 2, 3}, seeds, batch);
        return batch;
      };
      const auto expected = batch_of(wide);
      const auto found = batch_of(narrow.graph);
      EXPECT_EQ(found.vertices, expected.vertices);
      for (std::size_t hop = 0; hop < expected.blocks.size(); ++hop) {
        EXPECT_EQ(found.blocks[hop].indptr, expected.blocks[hop].indptr);
        EXPECT_EQ(found.blocks[hop].indices, expected.blocks[hop].indices);
      }
    }
  }
}

}  // namespace
}  // namespace gnomon::kernels::cpu
