#include "sim/costs/hops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "tests/fixtures/profiles.h"

namespace gnomon::sim {
namespace {

// Draws from vertices whose use falls with the rank, and which have the more edges the more they are used.
TEST(HotUse, ComputesWhatASimulationFinds) {
  constexpr int vertices = 20000;
  constexpr int batches = 16;
  constexpr int destinations = 800;
  constexpr double ratio = 0.2;
  std::vector<double> uses(vertices);
  for (int rank = 0; rank < vertices; ++rank) {
    uses[static_cast<std::size_t>(rank)] = std::pow(rank + 1, -0.7);
  }
  const auto edges_of = [](int rank) { return rank < vertices / 20 ? 10 : 2; };
  double all_uses = 0;
  double all_edges = 0;
  for (int rank = 0; rank < vertices; ++rank) {
    all_uses += uses[static_cast<std::size_t>(rank)];
    all_edges += uses[static_cast<std::size_t>(rank)] * edges_of(rank);
  }
  auto workload = test::profile_of(profiles::DeviceKind::host, 1, 10, {1, 0, 1, 1}).workload;
  workload.vertices = vertices;
  workload.batch_vertices = 3000;
  workload.job.fanouts = {10, 10};
  workload.hops = {{100, 800}, {destinations, destinations * all_edges / all_uses}};
  workload.hot.emplace();
  double used = 0;
  double edges = 0;
  for (int rank = 0; rank < vertices; ++rank) {
    used += uses[static_cast<std::size_t>(rank)] / all_uses;
    edges += uses[static_cast<std::size_t>(rank)] * edges_of(rank) / all_edges;
    for (const double share : {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5}) {
      if (rank + 1 == std::lround(share * vertices)) {
        workload.hot->destinations.push_back({share, used});
        workload.hot->edges.push_back({share, edges});
      }
    }
  }
  plan::Plan plan;
  plan.super_batch = batches;
  plan.embeddings = {.reuse = plan::Reuse::hot, .hot_ratio = ratio};
  const auto use = hot_use_of(workload, plan);

  std::mt19937_64 random(11);
  std::discrete_distribution<int> draw(uses.begin(), uses.end());
  constexpr int trials = 20;
  double computed = 0;
  double computed_edges = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::set<int> distinct;
    for (int i = 0; i < batches * destinations; ++i) {
      if (const int rank = draw(random); rank < ratio * vertices) {
        distinct.insert(rank);
      }
    }
    computed += static_cast<double>(distinct.size()) / trials;
    for (const int rank : distinct) {
      computed_edges += edges_of(rank) / workload.hops.back().edges / trials;
    }
  }
  EXPECT_NEAR(use.computed, computed, 0.03 * computed);
  EXPECT_NEAR(use.computed_edges, computed_edges, 0.05 * computed_edges);
}

}  // namespace
}  // namespace gnomon::sim
