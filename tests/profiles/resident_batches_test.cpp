#include "profiles/measure/resident_batches.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "base/index.h"
#include "graph/epoch_order.h"
#include "graph/partition/macro_batches.h"
#include "graph/partition/parts.h"
#include "kernels/cpu/sample/sampler.h"
#include "kernels/cpu/sample/topology.h"
#include "tests/fixtures/graphs.h"

namespace gnomon::profiles {
namespace {

using base::at;
using graph::VertexId;

constexpr std::int64_t num_vertices = 400;
constexpr int num_parts = 8;

struct Sizes {
  double edges = 0, vertices = 0;
};

plan::Job whole_lists(int batch_size) {
  plan::Job job;
  job.fanouts = {-1, -1};
  job.batch_size = batch_size;
  job.seed = 3;
  return job;
}

/// With training vertices, and ordered by equal parts if asked for.
graph::Graph test_graph(bool has_parts) {
  struct Storage {
    std::vector<VertexId> train, bounds;
    std::shared_ptr<const void> graph;
  };
  auto graph = test::skewed_graph(num_vertices, 7);
  auto storage = std::make_shared<Storage>();
  storage->graph = graph.storage;
  for (VertexId vertex = 0; vertex < num_vertices; vertex += 3) {
    storage->train.push_back(vertex);
  }
  for (int part = 0; part <= num_parts; ++part) {
    storage->bounds.push_back(part * num_vertices / num_parts);
  }
  graph.train = storage->train;
  if (has_parts) {
    graph.parts = std::make_shared<graph::Parts>(graph::Parts{.request = {}, .bounds = storage->bounds});
  }
  graph.storage = storage;
  return graph;
}

/// What the runtime's sampler draws for one mini-batch.
Sizes sizes_of(const graph::Graph& graph, const plan::Job& job, std::span<const VertexId> seeds) {
  kernels::cpu::Sampler sampler(kernels::cpu::resident_copy(graph), job.fanouts);
  kernels::MiniBatch batch;
  sampler.sample({job.seed, 0, 0}, seeds, batch);
  Sizes sizes{0, static_cast<double>(batch.vertices.size())};
  for (const auto& block : batch.blocks) {
    sizes.edges += static_cast<double>(block.indices.size());
  }
  return sizes;
}

/// The graph of the vertices that `local` numbers.
graph::Graph induced(const graph::Graph& graph, const std::map<VertexId, VertexId>& local) {
  std::vector<std::vector<VertexId>> lists;
  for (const auto& [vertex, number] : local) {
    auto& list = lists.emplace_back();
    for (std::int64_t entry = graph.indptr[at(vertex)]; entry < graph.indptr[at(vertex) + 1]; ++entry) {
      if (const auto found = local.find(graph.indices[at(entry)]); found != local.end()) {
        list.push_back(found->second);
      }
    }
  }
  return test::graph_of(lists);
}

TEST(CountResident, AgreesWithSamplingTheGraphOfTheResidentParts) {
  const auto graph = test_graph(true);
  const auto job = whole_lists(1000);
  for (const int resident : {1, 2, 5}) {
    const auto count = count_resident(graph, job, static_cast<double>(resident) / num_parts, 1);
    ASSERT_TRUE(count);
    EXPECT_DOUBLE_EQ(count->resident, static_cast<double>(resident) / num_parts);
    std::map<VertexId, VertexId> local;
    const auto groups = graph::macro_batches(num_parts, resident, job.seed, 0);
    for (VertexId vertex = 0; vertex < num_vertices; ++vertex) {
      const auto part = graph.parts->part_of(vertex);
      if (std::count(groups.front().begin(), groups.front().end(), part) > 0) {
        local.emplace(vertex, std::ssize(local));
      }
    }
    std::vector<VertexId> seeds;
    for (const VertexId vertex : graph.train) {
      if (const auto found = local.find(vertex); found != local.end()) {
        seeds.push_back(found->second);
      }
    }
    const auto some = sizes_of(induced(graph, local), job, seeds);
    const auto order = graph::epoch_order(graph.train, job.seed, 0);
    const auto all = sizes_of(graph, job, std::span(order).first(seeds.size()));
    EXPECT_DOUBLE_EQ(count->edges, some.edges / all.edges) << resident;
    EXPECT_DOUBLE_EQ(count->vertices, some.vertices / all.vertices) << resident;
  }
}

TEST(CountResident, OfAllPartsIsWhole) {
  const auto count = count_resident(test_graph(true), whole_lists(20), 1, 3);
  ASSERT_TRUE(count);
  EXPECT_DOUBLE_EQ(count->resident, 1);
  EXPECT_DOUBLE_EQ(count->neighbours, 1);
  EXPECT_DOUBLE_EQ(count->edges, 1);
  EXPECT_DOUBLE_EQ(count->vertices, 1);
}

TEST(CountResident, FindsTheShareOfNeighboursOfAGraphWithoutParts) {
  const auto graph = test_graph(false);
  const auto count = count_resident(graph, whole_lists(1000), 0.5, 1);
  ASSERT_TRUE(count);
  EXPECT_DOUBLE_EQ(count->resident, 0.5);
  // 400 vertices are resident with probability 1/2 each, a deviation of 0.025; lists are drawn unequally.
  EXPECT_NEAR(count->neighbours, 0.5, 5 * 0.025);
  EXPECT_GT(count->edges, 0.25);
  EXPECT_LT(count->edges, 0.75);
}

// A list of 8,000 entries, of which a quarter is resident, has enough for each fanout.
TEST(CountResident, LooksAtSomeEntriesOfLongLists) {
  constexpr std::int64_t many = 8000;
  std::vector<std::vector<VertexId>> lists(many + 8);
  for (VertexId hub = many; hub < many + 8; ++hub) {
    lists[at(hub)].resize(many);
    std::iota(lists[at(hub)].begin(), lists[at(hub)].end(), VertexId{0});
  }
  auto graph = test::graph_of(lists);
  std::vector<VertexId> train(8);
  std::iota(train.begin(), train.end(), many);
  graph.train = train;
  auto job = whole_lists(8);
  job.fanouts = {16};
  const auto count = count_resident(graph, job, 0.25, 1);
  ASSERT_TRUE(count);
  EXPECT_DOUBLE_EQ(count->edges, 1) << "of as many seeds";
  EXPECT_GT(count->neighbours, 0.1);
  EXPECT_LT(count->neighbours, 0.5);
}

TEST(CountResident, AscendsAndIsEmptyIfSamplingIsByWeight) {
  const auto graph = test_graph(true);
  auto job = whole_lists(20);
  const auto counts = count_resident(graph, job, AccessOptions{.time_limit_s = 100});
  ASSERT_GT(counts.size(), 3U);
  for (std::size_t i = 1; i < counts.size(); ++i) {
    EXPECT_GT(counts[i].resident, counts[i - 1].resident) << "of 8 parts, several shares are the same";
  }
  job.weighted = true;
  EXPECT_TRUE(count_resident(graph, job, AccessOptions{}).empty());
}

}  // namespace
}  // namespace gnomon::profiles
