#include <gtest/gtest.h>

#include <set>

#include "graph/generate/generate.h"
#include "kernels/cpu/sample/sampler.h"
#include "kernels/cpu/sample/wide_sampler.h"
#include "kernels/replacement_rule.h"
#include "tests/fixtures/graphs.h"
#include "tests/kernels/sample/edge_id_contract.h"
#include "tests/kernels/sample/weighted_reference.h"

// What SamplingRule adds to the sampler: vertices that are expanded once, and draws with replacement.

namespace gnomon::kernels::cpu {
namespace {

constexpr SamplingRule once{.expansion = Expansion::once};
constexpr SamplingRule with_replacement{.replace = true};

const std::vector<std::vector<int>> all_fanouts{{15, 10, 5}, {-1, -1}, {3, -1, 2, 1}, {7}};

MiniBatch sampled(const Topology& topology, const std::vector<int>& fanouts, const BatchKey& key,
                  const std::vector<VertexId>& seeds, const SamplingRule& rule, int threads = 1) {
  Sampler sampler(topology, fanouts, EdgeIds::keep, {threads, {}}, rule);
  MiniBatch batch;
  sampler.sample({9, 9, 9}, seeds, batch);  // what a batch leaves behind must not matter
  sampler.sample(key, seeds, batch);
  return batch;
}

void expect_reference(const graph::Graph& graph, const Topology& topology, const MiniBatch& expected,
                      const std::vector<int>& fanouts, const BatchKey& key,
                      const std::vector<VertexId>& seeds) {
  ASSERT_EQ(topology.num_vertices(), graph.num_vertices());
  for (const int threads : {1, 3}) {
    SCOPED_TRACE(::testing::Message() << threads << " threads, first fanout " << fanouts.front());
    const auto batch = sampled(topology, fanouts, key, seeds, once, threads);
    expect_same(batch, expected);
    expect_same_edges(batch, expected);
  }
  WideSampler wide(topology, fanouts, true, once);
  MiniBatch batch;
  ASSERT_EQ(wide.sample(key, seeds, batch), seeds.size());
  expect_same(batch, expected);
  expect_same_edges(batch, expected);
}

TEST(ExpansionOnce, SamplesTheReferencesBatches) {
  const auto graph = test::skewed_graph(4000, 8);
  for (const auto& fanouts : all_fanouts) {
    for (const std::size_t count : {0U, 1U, 300U, 2500U}) {
      const BatchKey key{5, 6, count};
      const auto seeds = some_seeds(graph, count, count);
      const auto expected = reference_batch(graph, fanouts, key, seeds, true);
      expect_reference(graph, resident_copy(graph), expected, fanouts, key, seeds);
      expect_reference(graph, view_of(graph), expected, fanouts, key, seeds);
    }
  }
}

TEST(ExpansionOnce, SamplesTheReferencesBatchesByWeight) {
  const auto graph = test::with_random_weights(test::skewed_graph(2000, 3), 3, 4);
  for (const auto& fanouts : all_fanouts) {
    const BatchKey key{1, 2, 3};
    const auto seeds = some_seeds(graph, 400, 1);
    expect_reference(graph, resident_copy(graph, Draws::by_weight),
                     weighted_reference_batch(graph, fanouts, key, seeds, true), fanouts, key, seeds);
  }
}

TEST(ExpansionOnce, ExpandsEachVertexInTheHopAfterItsFirstAppearance) {
  const auto graph = graph::generate_in_memory(graph::Rmat{.scale = 12, .seed = 5});
  const auto seeds = some_seeds(graph, 100, 4);
  const auto batch = sampled(resident_copy(graph), {-1, -1, -1}, {}, seeds, once, 2);
  std::set<VertexId> seen(seeds.begin(), seeds.end());
  std::vector<VertexId> frontier = seeds;
  std::size_t expanded = 0;
  for (const Block& block : batch.blocks) {
    ASSERT_EQ(block.num_destinations, std::ssize(frontier));
    std::vector<VertexId> added;
    for (std::size_t v = 0; v < frontier.size(); ++v) {
      ASSERT_EQ(batch.vertices[expanded + v], frontier[v]);
      const auto neighbours = graph.neighbours(frontier[v]);
      ASSERT_EQ(block.indptr[v + 1] - block.indptr[v], std::ssize(neighbours));
      for (const VertexId neighbour : neighbours) {
        if (seen.insert(neighbour).second) {
          added.push_back(neighbour);
        }
      }
    }
    expanded += frontier.size();
    frontier = added;
  }
  EXPECT_EQ(seen.size(), batch.vertices.size());
}

/// The counts of each neighbour of vertex 0 over many batches of that seed.
std::vector<std::int64_t> counts_of(const graph::Graph& graph, Draws draws, int fanout) {
  Sampler sampler(view_of(graph, draws), {fanout}, EdgeIds::keep, {}, with_replacement);
  std::vector<std::int64_t> counts(static_cast<std::size_t>(graph.degree(0)));
  MiniBatch batch;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const std::vector<VertexId> seeds{0};
    sampler.sample({3, 0, i}, seeds, batch);
    EXPECT_EQ(batch.num_edges(), fanout);
    for (const std::int64_t edge : batch.blocks[0].edge_ids) {
      ++counts.at(static_cast<std::size_t>(edge));
    }
  }
  return counts;
}

graph::Graph star(std::size_t leaves) {
  std::vector<std::vector<VertexId>> lists(leaves + 1);
  for (std::size_t leaf = 1; leaf <= leaves; ++leaf) {
    lists[0].push_back(static_cast<VertexId>(leaf));
  }
  return test::graph_of(lists);
}

TEST(Replacement, DrawsUniformly) {
  for (const int fanout : {1, 3, 10, 25}) {
    EXPECT_GT(uniformity_p(counts_of(star(7), Draws::uniform, fanout)), least_p) << fanout;
  }
}

TEST(Replacement, DrawsByWeight) {
  const auto graph = test::with_weights(star(5), {1, 4, 2, 8, 1});
  for (const int fanout : {1, 4, 9}) {
    const auto counts = counts_of(graph, Draws::by_weight, fanout);
    EXPECT_GT(fit_p(counts, {1 / 16.0, 4 / 16.0, 2 / 16.0, 8 / 16.0, 1 / 16.0}), least_p) << fanout;
  }
}

TEST(Replacement, DrawsFromLongLists) {
  constexpr std::size_t leaves = (std::size_t{1} << 16) + 1000;
  const auto graph = star(leaves);
  const auto weighted = test::with_weights(star(leaves), std::vector<float>(leaves, 0.5F));
  for (const auto& [of, draws] : {std::pair{graph, Draws::uniform}, std::pair{weighted, Draws::by_weight}}) {
    std::vector<std::int64_t> tenths(10);
    const auto counts = counts_of(of, draws, 9);
    for (std::size_t i = 0; i < leaves / 10 * 10; ++i) {
      tenths[i / (leaves / 10)] += counts[i];
    }
    EXPECT_GT(uniformity_p(tenths), least_p);
  }
}

TEST(Replacement, TakesAllOfFanoutMinusOneAndNoneOfAnEmptyList) {
  const auto graph = test::with_weights(star(4), {0, 0, 0, 0});
  const auto weightless = sampled(view_of(graph, Draws::by_weight), {3}, {}, {0}, with_replacement);
  EXPECT_EQ(weightless.num_edges(), 0);
  EXPECT_EQ(sampled(view_of(graph), {-1}, {}, {0}, with_replacement).num_edges(), 4);
  EXPECT_EQ(sampled(view_of(graph), {3}, {}, {2}, with_replacement).num_edges(), 0);
}

}  // namespace
}  // namespace gnomon::kernels::cpu
