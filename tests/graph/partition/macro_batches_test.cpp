#include "graph/partition/macro_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/index.h"
#include "communities.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

using base::at;

TEST(MacroBatches, HaveEachPartOnceInAnOrderOfTheEpoch) {
  for (const auto& [parts, resident] :
       std::vector<std::pair<int, int>>{{1, 1}, {12, 4}, {13, 4}, {7, 7}, {9, 1}}) {
    const auto batches = macro_batches(parts, resident, 5, 2);
    std::vector<std::int32_t> all;
    for (const auto& batch : batches) {
      all.insert(all.end(), batch.begin(), batch.end());
      EXPECT_EQ(std::ssize(batch),
                &batch == &batches.back() ? parts - resident * (std::ssize(batches) - 1) : resident);
    }
    std::sort(all.begin(), all.end());
    std::vector<std::int32_t> expected(at(parts));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
  }
  EXPECT_EQ(macro_batches(32, 8, 5, 2), macro_batches(32, 8, 5, 2));
  EXPECT_NE(macro_batches(32, 8, 5, 2), macro_batches(32, 8, 5, 3));
  EXPECT_NE(macro_batches(32, 8, 5, 2), macro_batches(32, 8, 6, 2));
}

TEST(MacroBatches, AreShuffledUniformly) {
  constexpr int epochs = 6000;
  std::vector<int> first(6, 0);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    ++first[at(macro_batches(6, 2, 1, static_cast<std::uint64_t>(epoch)).front().front())];
  }
  for (const int count : first) {
    EXPECT_NEAR(count, epochs / 6, 6 * std::sqrt(epochs / 6.0));  // six standard deviations
  }
}

TEST(WorkingSets, AreThoseOfSets) {
  const test::RandomSeed seed;
  constexpr std::int64_t columns = 3;
  auto graph = test::with_labels(test::skewed_graph(200, seed), 3, seed);
  graph = test::with_features(graph, std::vector<float>(at(200 * columns), 1), columns, FeatureType::fp16);
  const auto part_of = partition(graph, {PartitionMethod::random, 9, seed});
  const auto batches = macro_batches(9, 2, seed, 0);
  for (const auto& hubs : {std::vector<VertexId>{}, std::vector<VertexId>{3, 50, 117}}) {
    const auto sets = working_sets(graph, part_of, batches, hubs);
    ASSERT_EQ(sets.size(), batches.size());
    for (std::size_t number = 0; number < sets.size(); ++number) {
      std::set<VertexId> own;
      std::int64_t edges = 0, within = 0, bytes = 0, train = 0;
      for (VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
        if (std::count(batches[number].begin(), batches[number].end(), part_of[at(vertex)]) > 0) {
          own.insert(vertex);
        }
      }
      for (const VertexId vertex : own) {
        bytes += 8 + 8 * graph.degree(vertex) + 2 * columns;  // ids of graphs in memory have 64 bits
        train += std::count(graph.train.begin(), graph.train.end(), vertex);
        for (const VertexId neighbour : graph.neighbours(vertex)) {
          ++edges;
          within += own.contains(neighbour) || std::count(hubs.begin(), hubs.end(), neighbour) > 0 ? 1 : 0;
        }
      }
      EXPECT_EQ(sets[number].parts, std::ssize(batches[number]));
      EXPECT_EQ(sets[number].vertices, std::ssize(own));
      EXPECT_EQ(sets[number].bytes, bytes);
      EXPECT_EQ(sets[number].train, train);
      EXPECT_EQ(sets[number].edges, edges);
      EXPECT_EQ(sets[number].edges_within, within);
    }
  }
}

TEST(WorkingSets, OfSparseFeaturesHaveTheirEntries) {
  const test::RandomSeed seed;
  auto graph = test::skewed_graph(60, seed);
  graph = test::in_sparse_form(test::with_features(
      graph, test::mostly_zero(60, 8, 3, test::Values::normal, seed), 8, FeatureType::fp32));
  const auto sets = working_sets(graph, PartOf(60, 0), {{0}}, {});
  ASSERT_EQ(sets.size(), 1U);
  // All row pointers but the last one of either array.
  EXPECT_EQ(sets[0].bytes, 60 * 8 + 8 * graph.num_edges() + graph.features.bytes() - 8);
}

}  // namespace
}  // namespace gnomon::graph
