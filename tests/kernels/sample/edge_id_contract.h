#pragma once

#include "kernels/cpu/sample/sampler.h"
#include "tests/kernels/sample/sampler_contract.h"
#include "tests/kernels/sample/weighted_reference.h"

/// What every sampler that says which edges it drew promises. An implementation is one of weighted_contract.h
/// that can also be made with (graph, fanouts, cpu::Draws, cpu::EdgeIds).
namespace gnomon::kernels {

inline void expect_same_edges(const MiniBatch& left, const MiniBatch& right) {
  for (std::size_t hop = 0; hop < left.blocks.size(); ++hop) {
    EXPECT_EQ(left.blocks[hop].edge_ids, right.blocks[hop].edge_ids) << "hop " << hop;
  }
}

/// Every edge id leads from the edge's source to its destination.
inline void expect_edges_of(const graph::Graph& graph, const MiniBatch& batch) {
  for (const Block& block : batch.blocks) {
    ASSERT_EQ(block.edge_ids.size(), block.indices.size());
    for (std::size_t v = 0; v < static_cast<std::size_t>(block.num_destinations); ++v) {
      const auto list = static_cast<std::size_t>(batch.vertices[v]);
      for (auto e = static_cast<std::size_t>(block.indptr[v]);
           e < static_cast<std::size_t>(block.indptr[v + 1]); ++e) {
        const auto id = block.edge_ids[e];
        ASSERT_GE(id, graph.indptr[list]);
        ASSERT_LT(id, graph.indptr[list + 1]);
        ASSERT_EQ(graph.indices[static_cast<std::size_t>(id)],
                  batch.vertices[static_cast<std::size_t>(block.indices[e])]);
      }
    }
  }
}

template <class Implementation>
class EdgeIdContract : public ::testing::Test {
 protected:
  static Implementation weighted(const graph::Graph& graph, const std::vector<int>& fanouts) {
    return Implementation(graph, fanouts, cpu::Draws::by_weight, cpu::EdgeIds::keep);
  }
};

TYPED_TEST_SUITE_P(EdgeIdContract);

TYPED_TEST_P(EdgeIdContract, OfWeightedDraws) {
  const auto graph = test::with_random_weights(test::skewed_graph(2000, 3), 3, 4);
  for (const std::vector<int>& fanouts : {std::vector<int>{15, 10, 5}, {-1, -1}, {2, -1, 300, 2, 1}}) {
    auto sampler = this->weighted(graph, fanouts);
    for (std::uint64_t i = 0; i < 5; ++i) {
      const auto seeds = some_seeds(graph, i * i * 10, i);
      const auto batch = sampler.sample({i << 33, i % 3, i}, seeds);
      expect_edges_of(graph, batch);
      expect_same_edges(batch, weighted_reference_batch(graph, fanouts, {i << 33, i % 3, i}, seeds));
    }
  }
}

TYPED_TEST_P(EdgeIdContract, OfUniformDraws) {
  const auto graph = test::skewed_graph(3000, 8);
  for (const std::vector<int>& fanouts : {std::vector<int>{15, 10, 5}, {-1, -1}, {2, -1, 300}}) {
    TypeParam sampler(graph, fanouts, cpu::Draws::uniform, cpu::EdgeIds::keep);
    for (const std::uint64_t i : {0, 1, 2, 5}) {
      const auto seeds = some_seeds(graph, i * i * 20, i);
      const auto batch = sampler.sample({5, 6, i}, seeds);
      expect_edges_of(graph, batch);
      expect_same(batch, reference_batch(graph, fanouts, {5, 6, i}, seeds));
      expect_same_edges(batch, reference_batch(graph, fanouts, {5, 6, i}, seeds));
    }
  }
}

TYPED_TEST_P(EdgeIdContract, OfWeightedDrawsAndDuplicateEdges) {
  auto lists = std::vector<std::vector<VertexId>>(50, std::vector<VertexId>(40));
  for (std::size_t v = 0; v < 50; ++v) {
    for (std::size_t i = 0; i < 40; ++i) {
      lists[v][i] = static_cast<VertexId>((v + i / 4) % 50);  // every neighbour four times
    }
  }
  const auto graph = test::with_random_weights(test::graph_of(lists), 3, 9);
  for (const std::vector<int>& fanouts : {std::vector<int>{12, 5}, {-1}, {39, 41}}) {
    const auto batch = this->weighted(graph, fanouts).sample({1, 1, 1}, some_seeds(graph, 9, 1));
    expect_edges_of(graph, batch);
    for (const Block& block : batch.blocks) {
      std::set<std::int64_t> distinct(block.edge_ids.begin(), block.edge_ids.end());
      EXPECT_EQ(distinct.size(), block.edge_ids.size());
    }
  }
}

TYPED_TEST_P(EdgeIdContract, AreLeftOutUnlessAskedFor) {
  const auto graph = test::with_random_weights(test::skewed_graph(300, 8), 1, 1);
  for (const auto draws : {cpu::Draws::uniform, cpu::Draws::by_weight}) {
    TypeParam sampler(graph, {5, -1}, draws, cpu::EdgeIds::omit);
    for (const Block& block : sampler.sample({}, some_seeds(graph, 50, 1)).blocks) {
      EXPECT_TRUE(block.edge_ids.empty());
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(EdgeIdContract, OfWeightedDraws, OfUniformDraws, OfWeightedDrawsAndDuplicateEdges,
                            AreLeftOutUnlessAskedFor);

}  // namespace gnomon::kernels
