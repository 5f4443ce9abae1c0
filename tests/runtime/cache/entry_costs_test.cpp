#include "runtime/cache/entry_costs.h"

#include <gtest/gtest.h>

#include "tests/fixtures/graphs.h"

namespace gnomon::runtime {
namespace {

plan::Cache weighed(bool features, bool topology) {
  plan::Cache cache;
  cache.policy = plan::CachePolicy::value_weight;
  cache.features = features;
  cache.topology = topology;
  return cache;
}

constexpr EntryCosts sizes{.row_bytes = 20, .index_bytes = 4, .row_saves_s = 1, .list_saves_s = 1};

/// Batches that take 10 s without a cache, and less by the hits: ten of each held entry.
struct FakeDevice {
  double by_row_s;
  double by_list_s;
  std::vector<CacheContent>* asked;
  PreparedWith operator()(const CacheContent& content) const {
    asked->push_back(content);
    CacheUse use;
    use.row_hits = 10 * std::ssize(content.rows);
    use.list_hits = 10 * std::ssize(content.lists);
    return {
        10 - static_cast<double>(use.row_hits) * by_row_s - static_cast<double>(use.list_hits) * by_list_s,
        use};
  }
};

TEST(EntryCosts, AreTheTimesSavedPerHit) {
  const auto graph = test::skewed_graph(200, 3);
  std::vector<CacheContent> asked;
  const auto costs =
      with_savings(sizes, graph, weighed(true, true), 2000, 1, FakeDevice{0.001, 0.004, &asked});
  EXPECT_NEAR(costs.row_saves_s, 0.001, 1e-12);
  EXPECT_NEAR(costs.list_saves_s, 0.004, 1e-12);
  EXPECT_EQ(costs.row_bytes, 20);
  EXPECT_EQ(costs.index_bytes, 4);
  // Each kind against nothing, in half of the room.
  ASSERT_EQ(asked.size(), 4U);
  EXPECT_TRUE(asked[0].rows.empty() && asked[0].lists.empty());
  EXPECT_EQ(asked[1].rows.size(), 50U);
  EXPECT_TRUE(asked[1].lists.empty());
  EXPECT_TRUE(asked[2].rows.empty() && asked[2].lists.empty());
  EXPECT_TRUE(asked[3].rows.empty());
  std::int64_t list_bytes_held = 0;
  for (const auto vertex : asked[3].lists) {
    list_bytes_held += list_bytes(graph.degree(vertex), 4);
  }
  EXPECT_LE(list_bytes_held, 1000);
  EXPECT_GT(list_bytes_held, 0);
}

TEST(EntryCosts, AKindThatSavesNothingCountsNothing) {
  const auto graph = test::skewed_graph(200, 3);
  std::vector<CacheContent> asked;
  const auto costs =
      with_savings(sizes, graph, weighed(true, true), 2000, 1, FakeDevice{0.001, -0.004, &asked});
  EXPECT_NEAR(costs.row_saves_s, 0.001, 1e-12);
  EXPECT_EQ(costs.list_saves_s, 0);
}

TEST(EntryCosts, AreAlikeWhereNothingSavesTime) {
  const auto graph = test::skewed_graph(200, 3);
  std::vector<CacheContent> asked;
  for (const std::int64_t bytes : {2000, 10}) {  // the second holds no row
    const auto costs = with_savings(sizes, graph, weighed(true, true), bytes, 1, FakeDevice{0, 0, &asked});
    EXPECT_EQ(costs.row_saves_s, 1);
    EXPECT_EQ(costs.list_saves_s, 1);
  }
}

TEST(EntryCosts, NeedNoMeasurementOfOneKindOrByOtherPolicies) {
  const auto graph = test::skewed_graph(200, 3);
  std::vector<CacheContent> asked;
  auto presample = weighed(true, true);
  presample.policy = plan::CachePolicy::presample;
  for (const auto& cache : {weighed(true, false), weighed(false, true), presample}) {
    EXPECT_EQ(with_savings(sizes, graph, cache, 2000, 1, FakeDevice{1, 1, &asked}).row_saves_s, 1);
  }
  EXPECT_TRUE(asked.empty());
}

TEST(EntrySizes, FollowTheGraph) {
  const auto graph = test::with_random_weights(test::skewed_graph(50, 3), 4, 13);
  graph::Features features;
  features.type = graph::FeatureType::fp16;
  features.columns = 10;
  const auto wide = entry_sizes(features, kernels::cpu::view_of(graph));
  EXPECT_EQ(wide.row_bytes, 20);
  EXPECT_EQ(wide.index_bytes, 8);
  EXPECT_EQ(entry_sizes(features, kernels::cpu::resident_copy(graph)).index_bytes, 4);
  EXPECT_EQ(
      entry_sizes(features, kernels::cpu::resident_copy(graph, kernels::cpu::Draws::by_weight)).index_bytes,
      4 + static_cast<std::int64_t>(sizeof(kernels::AliasColumn)));
}

}  // namespace
}  // namespace gnomon::runtime
