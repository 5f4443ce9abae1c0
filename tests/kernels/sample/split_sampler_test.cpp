#include "kernels/cpu/sample/split_sampler.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "base/error.h"
#include "graph/generate/generate.h"
#include "kernels/cpu/sample/sampler.h"
#include "kernels/cpu/sample/worker_memory.h"
#include "tests/fixtures/graphs.h"
#include "tests/kernels/sample/sampler_contract.h"

// Several threads that share a batch, on batches that are large enough for it, against one thread.

namespace gnomon::kernels::cpu {
namespace {

const graph::Graph& large_graph() {
  static const graph::Graph graph = graph::generate_in_memory(graph::Rmat{.scale = 15, .seed = 5});
  return graph;
}

std::vector<VertexId> random_seeds(std::size_t count, std::uint64_t seed) {
  std::vector<VertexId> seeds(static_cast<std::size_t>(large_graph().num_vertices()));
  std::iota(seeds.begin(), seeds.end(), 0);
  std::mt19937_64 random(seed);
  std::shuffle(seeds.begin(), seeds.end(), random);
  seeds.resize(count);
  return seeds;
}

void expect_same_batches(const Topology& topology, const std::vector<int>& fanouts, int threads) {
  SCOPED_TRACE(::testing::Message() << threads << " threads, " << fanouts.size() << " hops of "
                                    << fanouts.front());
  Sampler alone(topology, fanouts, EdgeIds::keep);
  Sampler shared(topology, fanouts, EdgeIds::keep, {threads, {}});
  MiniBatch expected;
  MiniBatch batch;
  std::uint64_t number = 0;
  for (const std::size_t seeds : {1024U, 1U, 700U, 5000U, 60U}) {
    const auto of_batch = random_seeds(seeds, number);
    const BatchKey key{3, 1, number++};
    alone.sample(key, of_batch, expected);
    shared.sample(key, of_batch, batch);
    expect_same(batch, expected);
    for (std::size_t hop = 0; hop < fanouts.size(); ++hop) {
      EXPECT_EQ(batch.blocks[hop].edge_ids, expected.blocks[hop].edge_ids);
    }
  }
}

TEST(SplitSampler, SamplesTheBatchesOfOneThread) {
  const auto narrow = resident_copy(large_graph());
  const auto wide = view_of(large_graph());
  const auto weighted = test::with_random_weights(large_graph(), 3, 8);
  for (const int threads : {2, 3, 8}) {
    for (const auto& fanouts : {std::vector<int>{15, 10, 5}, {10, 10}, {-1}, {3, -1}, {512}}) {
      expect_same_batches(narrow, fanouts, threads);
      expect_same_batches(wide, fanouts, threads);
    }
    expect_same_batches(resident_copy(weighted, Draws::by_weight), {10, 10}, threads);
  }
}

TEST(SplitSampler, NamesTheSeedThatComesTwiceAndGoesOn) {
  Sampler sampler(view_of(large_graph()), {10, 5}, EdgeIds::omit, {3, {}});
  auto seeds = random_seeds(5000, 1);
  seeds[4321] = seeds[17];
  seeds[4900] = seeds[18];
  MiniBatch batch;
  try {
    sampler.sample({1, 2, 3}, seeds, batch);
    FAIL() << "a seed came twice";
  } catch (const base::InputError& error) {
    EXPECT_NE(std::string(error.what()).find("seeds[4321]"), std::string::npos) << error.what();
  }
  const auto distinct = random_seeds(5000, 2);
  MiniBatch expected;
  Sampler(view_of(large_graph()), {10, 5}).sample({1, 2, 3}, distinct, expected);
  sampler.sample({1, 2, 3}, distinct, batch);
  expect_same(batch, expected);
}

TEST(SplitSampler, HoldsNoMoreThanItsBound) {
  for (const auto& fanouts : {std::vector<int>{15, 10, 5}, {10, 10}, {-1, 3}}) {
    for (const int threads : {2, 5}) {
      Sampler sampler(view_of(large_graph()), fanouts, EdgeIds::omit, {threads, {}});
      MiniBatch batch;
      for (std::uint64_t i = 0; i < 8; ++i) {
        sampler.sample({1, 0, i}, random_seeds(1 + 150 * i, i), batch);
      }
      const auto sizes = largest_batch(limits_of(view_of(large_graph())), 1051, fanouts);
      EXPECT_LE(sampler.bytes(), max_split_sampler_bytes(sizes, fanouts, threads));
    }
  }
}

}  // namespace
}  // namespace gnomon::kernels::cpu
