#include "runtime/cache/presampling.h"

#include <gtest/gtest.h>

#include <numeric>

#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "kernels/device/gather-inl.h"
#include "kernels/device/sampler-inl.h"
#include "runtime/cache/presampling-inl.h"
#include "tests/fixtures/graphs.h"
#include "tests/kernels/host_executor.h"

namespace gnomon::runtime {
namespace {

kernels::device::Topology topology_of(const graph::Graph& graph) {
  kernels::device::Topology topology;
  topology.lists = {graph.indptr.data(), graph.indices.wide().data(), nullptr, nullptr};
  topology.num_vertices = graph.num_vertices();
  return topology;
}

TEST(Presampling, CountsWhatTheFirstTwoEpochsUse) {
  const auto graph = test::skewed_graph(400, 21);
  std::vector<graph::VertexId> train;
  for (graph::VertexId vertex = 0; vertex < 400; vertex += 3) {
    train.push_back(vertex);
  }
  plan::Job job;
  job.fanouts = {4, -1};
  job.batch_size = 25;
  job.seed = 9;
  kernels::HostExecutor executor;
  kernels::device::Sampler<kernels::HostExecutor> device_sampler(executor, topology_of(graph), job.fanouts);
  std::int64_t told = 0;
  const auto visits =
      presample(executor, device_sampler, graph.num_vertices(), train, job,
                [&](std::string_view, std::int64_t done, std::int64_t all) { told += done < all; });

  Visits expected{std::vector<std::uint32_t>(400), std::vector<std::uint32_t>(400)};
  kernels::cpu::Sampler sampler(graph, job.fanouts);
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const auto order = graph::epoch_order(train, job.seed, epoch);
    for (std::int64_t batch = 0; batch < graph::num_batches(std::ssize(train), 25); ++batch) {
      kernels::MiniBatch sampled;
      sampler.sample({job.seed, epoch, static_cast<std::uint64_t>(batch)},
                     graph::batch_seeds(order, 25, batch), sampled);
      for (const auto vertex : sampled.vertices) {
        ++expected.rows[static_cast<std::size_t>(vertex)];
      }
      for (const auto& block : sampled.blocks) {
        for (std::int64_t i = 0; i < block.num_destinations; ++i) {
          ++expected.lists[static_cast<std::size_t>(sampled.vertices[static_cast<std::size_t>(i)])];
        }
      }
    }
  }
  EXPECT_EQ(visits.rows, expected.rows);
  EXPECT_EQ(visits.lists, expected.lists);
  EXPECT_EQ(told, 12);  // 134 training vertices: two epochs of six batches
}

TEST(Presampling, OfLongEpochsSamplesBatchesAtEqualDistances) {
  const auto graph = test::skewed_graph(400, 21);
  std::vector<graph::VertexId> train(100);
  std::iota(train.begin(), train.end(), 0);
  plan::Job job;
  job.fanouts = {2};
  job.batch_size = 1;
  kernels::HostExecutor executor;
  kernels::device::Sampler<kernels::HostExecutor> sampler(executor, topology_of(graph), job.fanouts);
  const auto visits = presample(executor, sampler, graph.num_vertices(), train, job, {}, 45);
  std::vector<std::uint32_t> seeds(400);  // 40 of 200, every fifth
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const auto order = graph::epoch_order(train, job.seed, epoch);
    for (std::size_t batch = 0; batch < 100; batch += 5) {
      ++seeds[static_cast<std::size_t>(order[batch])];
    }
  }
  EXPECT_EQ(visits.lists, seeds);
}

TEST(Presampling, IsForPoliciesThatGoByVisits) {
  using plan::CachePolicy;
  EXPECT_TRUE(needs_visits(CachePolicy::presample));
  EXPECT_TRUE(needs_visits(CachePolicy::optimal));
  EXPECT_TRUE(needs_visits(CachePolicy::value_weight));
  EXPECT_FALSE(needs_visits(CachePolicy::random));
  EXPECT_FALSE(needs_visits(CachePolicy::out_degree));
}

}  // namespace
}  // namespace gnomon::runtime
