#include "runtime/cache/cache_choice.h"

#include <gmock/gmock.h>

#include <numeric>
#include <random>
#include <set>

#include "base/error.h"
#include "tests/fixtures/graphs.h"
#include "tests/random_seed.h"

namespace gnomon::runtime {
namespace {

using graph::VertexId;
using plan::CachePolicy;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

plan::Cache cache_of(CachePolicy policy, bool features, bool topology) {
  plan::Cache cache;
  cache.policy = policy;
  cache.features = features;
  cache.topology = topology;
  return cache;
}

// Vertex 3 stands in three lists, 1 in two, 0 in one; degrees 2, 1, 1, 2.
graph::Graph small() { return test::graph_of({{1, 3}, {3}, {3}, {0, 1}}); }

TEST(CacheChoice, TakesTheHighestOutDegrees) {
  const auto content =
      choose_content(small(), cache_of(CachePolicy::out_degree, true, false), {}, {.row_bytes = 10}, 25, 0);
  EXPECT_THAT(content.rows, ElementsAre(3, 1));
  EXPECT_THAT(content.lists, IsEmpty());
}

TEST(CacheChoice, TakesTheMostVisitedAndNothingThatWasNot) {
  const Visits visits{{0, 5, 7, 5}, {}};
  const auto cache = cache_of(CachePolicy::presample, true, false);
  EXPECT_THAT(choose_content(small(), cache, visits, {.row_bytes = 10}, 20, 0).rows, ElementsAre(2, 1));
  EXPECT_THAT(choose_content(small(), cache, visits, {.row_bytes = 10}, 1000, 0).rows, ElementsAre(2, 1, 3));
}

TEST(CacheChoice, BothKindsGetTheSameShare) {
  // Rows take 4 x 30 = 120 bytes, lists 6 x 8 + 4 x 8 = 80: of 100 bytes rows get 60, lists 40.
  const Visits visits{{9, 8, 7, 6}, {6, 7, 8, 9}};
  const auto content = choose_content(small(), cache_of(CachePolicy::presample, true, true), visits,
                                      {.row_bytes = 30}, 100, 0);
  EXPECT_THAT(content.rows, ElementsAre(0, 1));
  EXPECT_THAT(content.lists, ElementsAre(3, 2));  // 24 and 16 bytes
}

TEST(CacheChoice, WeighsValueByWeightAcrossBothKinds) {
  // Seconds saved a byte: rows 4/20, 2/20, 0, 1/20; lists 3 x 2/24, 5 x 2/16, 1 x 2/16, 0.
  const Visits visits{{4, 2, 0, 1}, {3, 5, 1, 0}};
  const EntryCosts costs{.row_bytes = 20, .row_saves_s = 1, .list_saves_s = 2};
  const auto content =
      choose_content(small(), cache_of(CachePolicy::value_weight, true, true), visits, costs, 76, 0);
  EXPECT_THAT(content.lists, ElementsAre(1, 0, 2));  // 16 + 24 + 16 bytes
  EXPECT_THAT(content.rows, ElementsAre(0));         // 20
}

TEST(CacheChoice, ARandomOneIsOfTheSeedAndEvenlySpread) {
  const auto graph = test::skewed_graph(1000, 5);
  const auto cache = cache_of(CachePolicy::random, true, false);
  const auto first = choose_content(graph, cache, {}, {.row_bytes = 1}, 500, 1).rows;
  EXPECT_EQ(first, choose_content(graph, cache, {}, {.row_bytes = 1}, 500, 1).rows);
  EXPECT_NE(first, choose_content(graph, cache, {}, {.row_bytes = 1}, 500, 2).rows);
  EXPECT_EQ(std::set<VertexId>(first.begin(), first.end()).size(), 500U);
  // The mean of 500 of 0 ... 999 without replacement: 499.5, standard deviation 9.1.
  EXPECT_NEAR(std::accumulate(first.begin(), first.end(), 0.0) / 500, 499.5, 4 * 9.1);
}

TEST(CacheChoice, GreedyIsNotWorseThanAnyShareOfBothKinds) {
  const test::RandomSeed seed(7);
  std::mt19937_64 random(seed);
  const auto graph = test::skewed_graph(300, 6);
  Visits visits{std::vector<std::uint32_t>(300), std::vector<std::uint32_t>(300)};
  for (std::size_t v = 0; v < 300; ++v) {
    visits.rows[v] = static_cast<std::uint32_t>(random() % 50);
    visits.lists[v] = static_cast<std::uint32_t>(random() % 50);
  }
  const EntryCosts costs{.row_bytes = 64, .row_saves_s = 1, .list_saves_s = 0.3};
  const auto saved_s = [&](const CacheContent& content) {
    double sum = 0;
    for (const VertexId vertex : content.rows) {
      sum += visits.rows[static_cast<std::size_t>(vertex)] * costs.row_saves_s;
    }
    for (const VertexId vertex : content.lists) {
      sum += visits.lists[static_cast<std::size_t>(vertex)] * costs.list_saves_s;
    }
    return sum;
  };
  const std::int64_t bytes = 9000;
  const double best = saved_s(
      choose_content(graph, cache_of(CachePolicy::value_weight, true, true), visits, costs, bytes, 0));
  for (const auto policy : {CachePolicy::presample, CachePolicy::out_degree, CachePolicy::random}) {
    for (const auto& [features, topology] :
         {std::pair(true, true), std::pair(true, false), std::pair(false, true)}) {
      const auto content =
          choose_content(graph, cache_of(policy, features, topology), visits, costs, bytes, 0);
      std::int64_t used = std::ssize(content.rows) * costs.row_bytes;
      for (const VertexId vertex : content.lists) {
        used += list_bytes(graph.degree(vertex), costs.index_bytes);
      }
      EXPECT_LE(used, bytes);
      EXPECT_LE(saved_s(content), best);
    }
  }
}

TEST(CacheChoice, RefusesAPolicyThatChoosesLater) {
  EXPECT_THROW(
      choose_content(small(), cache_of(CachePolicy::recent, true, false), {}, {.row_bytes = 1}, 1, 0),
      base::InputError);
}

}  // namespace
}  // namespace gnomon::runtime
