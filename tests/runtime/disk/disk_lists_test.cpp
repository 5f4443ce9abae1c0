#include "runtime/disk/disk_lists.h"

#include <gtest/gtest.h>

#include <random>

#include "graph/store/store.h"
#include "kernels/cpu/sample/sampler.h"
#include "tests/fixtures/graphs.h"
#include "tests/random_seed.h"
#include "tests/runtime/disk/disk_directory.h"

namespace gnomon::runtime {
namespace {

class Lists : public testing::Test {
 protected:
  Lists() {
    graph::write_store(test::planted_graph(3000, 4), directory_ / "store");
    graph_ = graph::open_store(directory_ / "store");
  }
  DiskDirectory directory_;
  graph::Graph graph_;
};

TEST_F(Lists, GiveTheGraphsNeighbours) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (const std::int64_t cached_blocks : {-1, 0, 3, 1000}) {
    const auto counts = std::make_shared<DiskCounts>();
    const auto lists = open_lists(graph_, counts);
    const auto block_bytes = lists->array.file->block_bytes();
    if (cached_blocks >= 0) {
      lists->cache = std::make_unique<RecentCache>(cached_blocks, block_bytes);
    }
    DiskLists reader(lists);
    for (int round = 0; round < 5; ++round) {
      std::vector<std::int64_t> edges(2000);
      for (auto& edge : edges) {
        edge = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(graph_.num_edges()));
      }
      edges.front() = graph_.num_edges() - 1;  // in the file's last block
      std::vector<graph::VertexId> neighbours(edges.size());
      reader.read(edges, neighbours);
      for (std::size_t i = 0; i < edges.size(); ++i) {
        ASSERT_EQ(neighbours[i], graph_.indices[static_cast<std::size_t>(edges[i])]) << edges[i];
      }
    }
    const auto use = counts->take_cache_use();
    EXPECT_EQ(use.lists > 0, cached_blocks >= 0);
    EXPECT_EQ(use.list_hits > 0, cached_blocks > 0);
    EXPECT_GT(counts->take_reads().bytes, 0);
  }
}

TEST_F(Lists, SampleTheSameMiniBatches) {
  const auto lists = open_lists(graph_, std::make_shared<DiskCounts>());
  const auto topology =
      kernels::cpu::with_lists_elsewhere(graph_, [lists] { return std::make_unique<DiskLists>(lists); });
  EXPECT_EQ(topology.max_degree, graph_.max_degree());
  for (const auto& fanouts : {std::vector<int>{5, 3}, std::vector<int>{-1, 4}, std::vector<int>{2}}) {
    kernels::cpu::Sampler from_disk(topology, fanouts);
    kernels::cpu::Sampler from_memory(graph_, fanouts);
    for (std::uint64_t batch = 0; batch < 3; ++batch) {
      kernels::MiniBatch sampled, expected;
      const auto seeds = graph_.train.subspan(batch * 50, 50);
      from_disk.sample({7, 1, batch}, seeds, sampled);
      from_memory.sample({7, 1, batch}, seeds, expected);
      EXPECT_EQ(sampled.vertices, expected.vertices);
      for (std::size_t hop = 0; hop < fanouts.size(); ++hop) {
        EXPECT_EQ(sampled.blocks[hop].indices, expected.blocks[hop].indices);
        EXPECT_EQ(sampled.blocks[hop].indptr, expected.blocks[hop].indptr);
      }
    }
  }
}

}  // namespace
}  // namespace gnomon::runtime
