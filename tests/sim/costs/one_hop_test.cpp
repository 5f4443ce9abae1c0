#include "sim/costs/one_hop.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "graph/generate/generate.h"
#include "profiles/measure/accesses.h"
#include "tests/random_seed.h"

namespace gnomon::sim {
namespace {

TEST(Touched, IsTheMeanOfDraws) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  constexpr int vertices = 2000;
  for (const double skew : {0.0, 0.5, 0.9}) {
    std::vector<double> weights;  // the first ranks of share u have a share u^(1 - skew) of the draws
    for (int rank = 0; rank < vertices; ++rank) {
      weights.push_back(std::pow(rank + 1, 1 - skew) - std::pow(rank, 1 - skew));
    }
    std::discrete_distribution<int> draw(weights.begin(), weights.end());
    for (const int visits : {200, 2000, 20000}) {
      double mean = 0;
      constexpr int repeats = 100;
      for (int repeat = 0; repeat < repeats; ++repeat) {
        std::set<int> seen;
        for (int i = 0; i < visits; ++i) {
          seen.insert(draw(random));
        }
        mean += static_cast<double>(seen.size()) / repeats;
      }
      EXPECT_NEAR(touched(vertices, visits, skew) / mean, 1, 0.03) << skew << ", " << visits;
    }
  }
  EXPECT_EQ(touched(0, 10, 0.5), 0);
}

// An epoch of a skewed graph touches fewer vertices than uniform draws would.
TEST(Touched, KnowsASampledEpochBetterByItsSkew) {
  graph::Rmat options;
  options.scale = 13;
  options.edge_factor = 8;
  options.feature_columns = 0;
  options.split.train_share = 0.05;
  const auto graph = graph::generate_in_memory(options);
  plan::Job job;
  job.fanouts = {10, 5};
  job.batch_size = 32;
  const auto epochs = profiles::sample_two_epochs(graph, job, {1000});
  profiles::WorkloadProfile workload;
  profiles::set_accesses(graph, job, epochs, workload);
  const auto& uses = epochs.first.rows;
  const double visits = std::accumulate(uses.begin(), uses.end(), 0.0);
  const double vertices = static_cast<double>(graph.num_vertices());
  const auto seen =
      static_cast<double>(std::count_if(uses.begin(), uses.end(), [](auto n) { return n > 0; }));
  const double by_skew = touched(vertices, visits, workload.features.skew);
  EXPECT_LT(std::abs(by_skew / seen - 1), 0.5 * std::abs(touched(vertices, visits) / seen - 1));
}

}  // namespace
}  // namespace gnomon::sim
