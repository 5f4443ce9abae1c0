#include "profiles/measure/list_blocks.h"

#include <gtest/gtest.h>

#include <set>

#include "base/index.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "tests/fixtures/graphs.h"
#include "tests/random_seed.h"

namespace gnomon::profiles {
namespace {

using base::at;

// Beside the positions that the sampler draws: lists of up to a few thousand neighbours, several of which
// share a block of 512 bytes, or have many.
TEST(CountBlocks, AreThoseOfTheDrawnNeighbours) {
  const test::RandomSeed seed;
  const auto graph = test::skewed_graph(20'000, seed);
  plan::Job job;
  job.fanouts = {5, 5};
  job.batch_size = 100;
  constexpr std::int64_t block_bytes = 512;
  const std::int64_t index_bytes = graph.indices.is_narrow() ? 4 : 8;
  kernels::cpu::Sampler sampler(graph, job.fanouts, kernels::cpu::EdgeIds::keep);
  EpochCounts epoch(graph.num_vertices());
  std::int64_t blocks = 0;
  std::vector<graph::VertexId> all(at(graph.num_vertices()));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<graph::VertexId>(i);
  }
  const auto order = graph::epoch_order(all, 1, 0);
  for (std::int64_t batch = 0; batch < 50; ++batch) {
    kernels::MiniBatch mini_batch;
    sampler.sample({1, 0, static_cast<std::uint64_t>(batch)},
                   graph::batch_seeds(order, job.batch_size, batch), mini_batch);
    epoch.add(mini_batch);
    for (const auto& block : mini_batch.blocks) {
      for (std::int64_t row = 0; row < block.num_destinations; ++row) {
        std::set<std::int64_t> drawn;
        for (auto edge = block.indptr[at(row)]; edge < block.indptr[at(row) + 1]; ++edge) {
          drawn.insert(block.edge_ids[at(edge)] * index_bytes / block_bytes);
        }
        blocks += std::ssize(drawn);
      }
    }
  }
  const auto counts = count_blocks(graph, job, epoch, 0, block_bytes);
  EXPECT_NEAR(static_cast<double>(counts.sum()), static_cast<double>(blocks),
              0.05 * static_cast<double>(blocks));
  EXPECT_LE(counts.reads, static_cast<double>(counts.sum()));
  EXPECT_EQ(std::ssize(counts.uses), graph.num_edges() * index_bytes / block_bytes + 1);
}

}  // namespace
}  // namespace gnomon::profiles
