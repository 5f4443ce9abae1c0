#include "kernels/cpu/sample/worker_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "graph/generate/generate.h"
#include "kernels/cpu/sample/sampler.h"
#include "tests/fixtures/graphs.h"
#include "tests/random_seed.h"

// Bounds of a worker's memory, against closed forms and against samplers at work.

namespace gnomon::kernels::cpu {
namespace {

TEST(WorkerMemory, LargestBatchByHand) {
  // Each of 10 seeds has 4 of its 6 neighbours, each of these 50 all of its 6.
  const std::vector<int> fanouts{4, -1};
  const auto sizes = largest_batch({1'000'000, 5'000'000, 6}, 10, fanouts);
  EXPECT_EQ(sizes.seeds, 10);
  EXPECT_EQ(sizes.edges, (std::vector<std::int64_t>{40, 300}));
  EXPECT_EQ(sizes.vertices, (std::vector<std::int64_t>{50, 350}));
  EXPECT_EQ(max_vertices({1'000'000, 5'000'000, 6}, 10, fanouts), 350);
  // Seeds' labels, two row pointers, edges, and per vertex an id, a degree and a row of 100 bytes.
  EXPECT_EQ(max_batch_bytes(sizes, 100), 10 * 8 + (11 + 51) * 8 + 340 * 4 + 350 * (8 + 4 + 100));
}

TEST(WorkerMemory, LargestBatchIsAtMostTheGraph) {
  const std::vector<int> fanouts{-1, 512, -1};
  const auto sizes = largest_batch({100, 700, 99}, 1024, fanouts);
  EXPECT_EQ(sizes.seeds, 100);
  EXPECT_EQ(sizes.edges, (std::vector<std::int64_t>{700, 700, 700}));
  EXPECT_EQ(sizes.vertices, (std::vector<std::int64_t>{100, 100, 100}));
  // Products beyond 64 bits count as all.
  const std::int64_t most = std::int64_t{1} << 50;
  const std::vector<int> all(16, -1);
  EXPECT_EQ(largest_batch({most, most, most}, most, all).edges.back(), most);
}

TEST(WorkerMemory, LimitsOfAGraph) {
  const auto limits = limits_of(view_of(test::hub_graph(9)));
  EXPECT_EQ(limits.vertices, 10);
  EXPECT_EQ(limits.edges, 9);
  EXPECT_EQ(limits.max_degree, 9);
}

std::vector<graph::VertexId> random_seeds(const graph::Graph& graph, std::int64_t count,
                                          std::mt19937_64& random) {
  std::vector<graph::VertexId> seeds(static_cast<std::size_t>(graph.num_vertices()));
  std::iota(seeds.begin(), seeds.end(), 0);
  std::shuffle(seeds.begin(), seeds.end(), random);
  seeds.resize(static_cast<std::size_t>(std::min(count, graph.num_vertices())));
  return seeds;
}

/// Samples some batches and checks their sizes; returns what the sampler then holds.
std::int64_t bytes_after_batches(const graph::Graph& graph, std::int64_t batch_size,
                                 const std::vector<int>& fanouts, std::mt19937_64& random,
                                 Draws draws = Draws::uniform) {
  const auto most = largest_batch(limits_of(view_of(graph)), batch_size, fanouts);
  Sampler sampler(view_of(graph, draws), fanouts);
  MiniBatch batch;
  for (std::uint64_t i = 0; i < 6; ++i) {
    sampler.sample({1, 0, i}, random_seeds(graph, batch_size, random), batch);
    EXPECT_LE(batch.num_seeds, most.seeds);
    for (std::size_t hop = 0; hop < fanouts.size(); ++hop) {
      EXPECT_LE(batch.blocks[hop].num_edges(), most.edges[hop]);
      EXPECT_LE(batch.blocks[hop].num_sources, most.vertices[hop]);
    }
  }
  return sampler.bytes();
}

TEST(WorkerMemory, BoundHoldsOnRandomGraphs) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 40; ++i) {
    const auto graph = test::with_random_weights(
        test::skewed_graph(2 + static_cast<std::int64_t>(random() % 3000), random()), 8, random());
    const auto draws = i % 2 == 0 ? Draws::uniform : Draws::by_weight;
    const auto batch_size = 1 + static_cast<std::int64_t>(random() % 300);
    std::vector<int> fanouts(1 + random() % 3);
    for (auto& fanout : fanouts) {
      fanout = random() % 8 == 0 ? -1 : 1 + static_cast<int>(random() % (random() % 4 == 0 ? 512 : 20));
    }
    SCOPED_TRACE(::testing::Message() << graph.num_vertices() << " vertices, batch " << batch_size);
    const auto most = largest_batch(limits_of(view_of(graph)), batch_size, fanouts);
    EXPECT_LE(bytes_after_batches(graph, batch_size, fanouts, random, draws),
              max_sampler_bytes(most.num_vertices(), fanouts));
  }
}

TEST(WorkerMemory, BoundIsAtMostTwiceWhatIsUsedWhereDegreesAreAlike) {
  // Few neighbours of a batch meet: it nearly has the most vertices that it can have.
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  graph::PlantedPartition options;
  options.vertices = 60000;
  options.average_degree = 40;
  options.feature_columns = 16;
  options.seed = seed;
  const auto graph = graph::generate_in_memory(options);
  for (const auto& fanouts : {std::vector<int>{10, 5}, std::vector<int>{15}, std::vector<int>{5, 4, 3}}) {
    for (const std::int64_t batch_size : {32, 256}) {
      const auto used = bytes_after_batches(graph, batch_size, fanouts, random);
      const auto most = max_sampler_bytes(
          largest_batch(limits_of(view_of(graph)), batch_size, fanouts).num_vertices(), fanouts);
      EXPECT_LE(used, most);
      EXPECT_LE(most, 2 * used) << "batch " << batch_size << ", " << fanouts.size() << " hops";
    }
  }
}

}  // namespace
}  // namespace gnomon::kernels::cpu
