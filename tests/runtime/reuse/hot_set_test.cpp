#include "runtime/reuse/hot_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "graph/epoch_order.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using graph::VertexId;
using testing::ElementsAre;

PlacedGraph placed_small_graph() {
  return place(test::planted_graph(300, 8), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0});
}

TEST(HotSet, CountsTheDestinationsOfTheFirstLayerInTwoEpochs) {
  const auto graph = placed_small_graph();
  const auto job = small_job(plan::ModelKind::sage);
  // By draws of single vertices: the first layer's destinations are the seeds and their drawn neighbours.
  std::map<VertexId, std::uint32_t> expected;
  std::array<std::int64_t, 2> vertices{};
  kernels::cpu::Sampler sampler(graph.graph, {job.fanouts[0]});
  kernels::cpu::Sampler whole(graph.graph, job.fanouts);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const auto order = graph::epoch_order(graph.graph.train, job.seed, epoch);
    for (std::int64_t batch = 0; batch * job.batch_size < std::ssize(order); ++batch) {
      const auto seeds = graph::batch_seeds(order, job.batch_size, batch);
      const kernels::BatchKey key{job.seed, epoch, static_cast<std::uint64_t>(batch)};
      std::set<VertexId> destinations;
      kernels::MiniBatch one;
      for (const VertexId seed : seeds) {
        sampler.sample(key, std::array{seed}, one);
        destinations.insert(one.vertices.begin(), one.vertices.end());
      }
      for (const VertexId vertex : destinations) {
        ++expected[vertex];
      }
      whole.sample(key, seeds, one);
      vertices[epoch] += std::ssize(one.vertices);
    }
  }
  const auto visits = count_bottom(graph, job, 1, {});
  for (VertexId vertex = 0; vertex < graph.graph.num_vertices(); ++vertex) {
    EXPECT_EQ(visits.destinations[static_cast<std::size_t>(vertex)], expected[vertex]) << vertex;
  }
  EXPECT_EQ(visits.vertices, vertices);
  EXPECT_EQ(visits.feature_bytes[1], vertices[1] * 8 * 4);
  EXPECT_EQ(visits.vertices_in(7), (vertices[0] + vertices[1]) / 2);
  EXPECT_EQ(count_bottom(graph, job, 3, {}).destinations, visits.destinations);
}

TEST(HotSet, RanksByVisitsAndThenByNumber) {
  const auto set = rank_by_visits({2, 0, 5, 2, 7, 0});
  EXPECT_THAT(set.vertices, ElementsAre(4, 2, 0, 3));
  EXPECT_THAT(set.ranks, ElementsAre(2, HotSet::never, 1, 3, 0, HotSet::never));
  EXPECT_EQ(hot_count(set, 0), 0);
  EXPECT_EQ(hot_count(set, 0.5), 3);
  EXPECT_EQ(hot_count(set, 1), 4) << "only those that were visited";
  const HotVertices two{set.ranks, 2};
  EXPECT_TRUE(two.holds(4) && two.holds(2));
  EXPECT_FALSE(two.holds(0) || two.holds(1));
}

TEST(HotSet, SplitsDestinationsInTheirOrder) {
  const auto set = rank_by_visits({2, 0, 5, 2, 7, 0});
  const std::vector<VertexId> destinations{1, 4, 0, 2, 5};
  const auto parts = split(destinations, {set.ranks, 2});
  EXPECT_THAT(parts.computed, ElementsAre(1, 0, 5));
  EXPECT_THAT(parts.reused, ElementsAre(4, 2));
  EXPECT_THAT(parts.order, ElementsAre(0, 3, 1, 4, 2));
  const auto none = split(destinations, {set.ranks, 0});
  EXPECT_EQ(none.computed, destinations);
  EXPECT_TRUE(none.reused.empty() && none.order.empty());
  const std::vector<VertexId> hot{4, 2};
  EXPECT_THAT(split(hot, {set.ranks, 4}).computed, ElementsAre(4)) << "one is computed";
  EXPECT_THAT(split(hot, {set.ranks, 4}).order, ElementsAre(0, 1));
}

}  // namespace
}  // namespace gnomon::runtime
