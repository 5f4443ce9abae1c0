#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "kernels/cpu/sample/sampler.h"
#include "kernels/device/gather-inl.h"
#include "kernels/device/sampler-inl.h"
#include "runtime/batch/batch_data.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/cache/fill_cache-inl.h"
#include "runtime/cache/presampling-inl.h"
#include "runtime/preparation/batch_maker-inl.h"
#include "tests/fixtures/graphs.h"
#include "tests/kernels/host_executor.h"
#include "tests/random_seed.h"
#include "tests/runtime/device_batches.h"

namespace gnomon::runtime {
namespace {

using graph::VertexId;
using kernels::HostExecutor;

/// A skewed graph with random features and labels.
graph::Graph test_graph(graph::FeatureType type, std::int64_t num_columns, std::uint64_t seed) {
  constexpr std::int64_t vertices = 500;
  struct Storage {
    std::shared_ptr<const void> graph;
    std::vector<std::byte> features;
    std::vector<std::int32_t> labels;
  };
  graph::Graph graph = test::skewed_graph(vertices, 11);
  auto storage = std::make_shared<Storage>();
  std::mt19937_64 random(seed);
  storage->features.resize(static_cast<std::size_t>(vertices * num_columns * graph::bytes_of(type)));
  std::generate(storage->features.begin(), storage->features.end(),
                [&] { return static_cast<std::byte>(random() % 64); });
  storage->labels.resize(vertices);
  std::generate(storage->labels.begin(), storage->labels.end(),
                [&] { return static_cast<std::int32_t>(random() % 7); });
  graph.features = {storage->features.data(), type, vertices, num_columns};
  graph.labels = storage->labels;
  graph.num_classes = 7;
  storage->graph = graph.storage;
  graph.storage = std::move(storage);
  return graph;
}

/// The graph where it lies, for a "device" that is the host.
DeviceGraph readable(const graph::Graph& graph) {
  DeviceGraph device;
  device.topology.lists = {graph.indptr.data(), graph.indices.wide().data(), nullptr, nullptr};
  device.topology.num_vertices = graph.num_vertices();
  device.rows = {graph.features.data, graph.features.row_bytes(), nullptr, nullptr};
  device.labels = graph.labels.data();
  device.feature_type = graph.features.type;
  device.columns = graph.features.columns;
  return device;
}

std::vector<VertexId> some_seeds(std::int64_t first) {
  std::vector<VertexId> seeds(40);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    seeds[i] = (first + 7 * static_cast<VertexId>(i)) % 500;
  }
  return seeds;
}

void expect_counts(const DeviceBatch& batch, const BatchData& data) {
  EXPECT_EQ(batch.size.vertices, std::ssize(data.batch.vertices));
  EXPECT_EQ(batch.size.edges, data.batch.num_edges());
  EXPECT_EQ(batch.size.bytes, data.bytes() - 8 * batch.size.vertices);  // global ids stay behind
}

class BatchMakerTest : public ::testing::TestWithParam<std::pair<graph::FeatureType, std::int64_t>> {
 protected:
  const test::RandomSeed seed_{12};
  const graph::Graph graph_ = test_graph(GetParam().first, GetParam().second, seed_);
  const std::vector<int> fanouts_{4, 3};
  HostExecutor executor_;
  DeviceGraph device_ = readable(graph_);
  std::unique_ptr<BatchMaker<HostExecutor>> maker_ = new_maker();

  std::unique_ptr<BatchMaker<HostExecutor>> new_maker() {
    return std::make_unique<BatchMaker<HostExecutor>>(executor_, device_, fanouts_,
                                                      kernels::device::Reads::shifted, at::kCPU);
  }
  void fill(const CacheContent& content) {
    fill_cache(executor_, device_, graph_, content, kernels::device::Reads::shifted, {});
    maker_ = new_maker();
  }

  /// The sample comes to the host without features, which the device gathers later.
  void expect_same_in_halves(const kernels::BatchKey& key, const std::vector<VertexId>& seeds,
                             const BatchData& expected) {
    BatchData sampled;
    maker_->sample(key, seeds, sampled);
    EXPECT_EQ(sampled.features.size(), 0U);
    EXPECT_EQ(sampled.batch.vertices, expected.batch.vertices);
    DeviceBatch batch;
    batch.tensors = view_of(sampled);
    EXPECT_FALSE(batch.tensors.features.defined());
    batch.tensors.features =
        maker_->gather(sampled.batch.vertices.data(), std::ssize(sampled.batch.vertices));
    expect_same(batch, expected);
  }

  /// The sample stays on the device, which lends the features to who trains on it.
  void expect_same_without_features(const kernels::BatchKey& key, const std::vector<VertexId>& seeds,
                                    const BatchData& expected) {
    auto batch = maker_->prepare_sample(key, seeds);
    EXPECT_FALSE(batch.tensors.features.defined());
    EXPECT_EQ(batch.size.bytes, expected.bytes() - 8 * batch.size.vertices -
                                    static_cast<std::int64_t>(expected.features.size()));
    const auto rows = maker_->lend_rows(batch.vertices.const_data_ptr<std::int64_t>(), batch.size.vertices);
    for (std::int64_t i = 0; i < batch.size.vertices; ++i) {
      const auto* row = rows.row(batch.vertices[i].item<std::int64_t>());
      ASSERT_EQ(std::memcmp(row, expected.features.data() + i * rows.row_bytes,
                            static_cast<std::size_t>(rows.row_bytes)),
                0);
    }
    batch.tensors.features = view_of(expected).features;
    expect_same(batch, expected);
  }

  void expect_batches_of_cpu() {
    kernels::cpu::Sampler sampler(graph_, fanouts_);
    for (std::uint64_t batch = 0; batch < 5; ++batch) {
      const kernels::BatchKey key{3, 1, batch};
      const auto seeds = some_seeds(static_cast<VertexId>(batch));
      BatchData expected;
      prepare_batch(graph_, sampler, key, seeds, expected);
      const auto prepared = maker_->prepare(key, seeds);
      expect_same(prepared, expected);
      expect_counts(prepared, expected);
      expect_same_in_halves(key, seeds, expected);
      expect_same_without_features(key, seeds, expected);
    }
  }
};

TEST_P(BatchMakerTest, MakesTheCpusBatches) { expect_batches_of_cpu(); }

TEST_P(BatchMakerTest, MakesTheCpusBatchesWhateverItsCachesHold) {
  const CacheContent some{{3, 499, 0, 250, 17}, {499, 1, 2, 3, 400}};
  const CacheContent rows_only{{1, 2, 3}, {}};
  CacheContent all;
  for (VertexId vertex = 0; vertex < 500; ++vertex) {
    all.rows.push_back(499 - vertex);
    all.lists.push_back(vertex * 7 % 500);
  }
  for (const auto& content : {some, all, rows_only, CacheContent{}}) {
    fill(content);
    expect_batches_of_cpu();
  }
}

TEST_P(BatchMakerTest, CountsWhatBatchesUseAndWhatCachesAnswer) {
  kernels::cpu::Sampler sampler(graph_, fanouts_);
  VisitCounts<HostExecutor> counts(executor_, 500);
  Visits expected{std::vector<std::uint32_t>(500), std::vector<std::uint32_t>(500)};
  for (std::uint64_t batch = 0; batch < 4; ++batch) {
    kernels::MiniBatch sampled;
    sampler.sample({3, 2, batch}, some_seeds(5), sampled);
    for (const VertexId vertex : sampled.vertices) {
      ++expected.rows[static_cast<std::size_t>(vertex)];
    }
    for (const auto& block : sampled.blocks) {
      for (std::int64_t i = 0; i < block.num_destinations; ++i) {
        ++expected.lists[static_cast<std::size_t>(sampled.vertices[static_cast<std::size_t>(i)])];
      }
    }
    counts.add(maker_->sampler().sample({3, 2, batch}, some_seeds(5).data(), 40));
  }
  const auto visits = counts.read();
  EXPECT_EQ(visits.rows, expected.rows);
  EXPECT_EQ(visits.lists, expected.lists);

  const CacheContent content{{3, 40, 41, 42, 43}, {40, 41, 5, 12}};
  fill(content);
  CacheUse use;
  for (std::uint64_t batch = 0; batch < 4; ++batch) {
    maker_->prepare({3, 2, batch}, some_seeds(5));
  }
  for (const auto count : expected.rows) {
    use.rows += count;
  }
  for (const auto count : expected.lists) {
    use.lists += count;
  }
  for (const VertexId vertex : content.rows) {
    use.row_hits += expected.rows[static_cast<std::size_t>(vertex)];
  }
  for (const VertexId vertex : content.lists) {
    use.list_hits += expected.lists[static_cast<std::size_t>(vertex)];
  }
  EXPECT_EQ(maker_->take_cache_use(), use);
  EXPECT_EQ(maker_->take_cache_use(), CacheUse{});
  for (std::uint64_t batch = 0; batch < 4; ++batch) {
    const auto sampled = maker_->prepare_sample({3, 2, batch}, some_seeds(5));
    maker_->lend_rows(sampled.vertices.const_data_ptr<std::int64_t>(), sampled.size.vertices);
  }
  EXPECT_EQ(maker_->take_cache_use(), use);
  EXPECT_GT(use.row_hits, 0);
  EXPECT_GT(use.list_hits, 0);
}

TEST(WeightedBatchMaker, MakesTheCpusBatchesWhateverItsCachesHold) {
  using kernels::cpu::Draws;
  const test::RandomSeed seed(12);
  const auto graph = test::with_random_weights(test_graph(graph::FeatureType::fp32, 3, seed), 4, seed + 1);
  const std::vector<int> fanouts{4, -1, 2};
  const CacheContent some{{3, 499}, {499, 1, 2, 3, 400, 250}};
  CacheContent all;
  for (VertexId vertex = 0; vertex < 500; ++vertex) {
    all.lists.push_back(vertex * 7 % 500);
  }
  for (const auto& topology : {kernels::cpu::view_of(graph, Draws::by_weight),
                               kernels::cpu::resident_copy(graph, Draws::by_weight)}) {
    auto device = readable(graph);
    device.topology.lists = {topology.indptr.data(), topology.indices.data(), topology.narrow_indices.data(),
                             topology.columns.data()};
    device.topology.weights = topology.weights.data();
    device.topology.positives = topology.positives.data();
    HostExecutor executor;
    kernels::cpu::Sampler sampler(topology, fanouts);
    for (const auto& content : {CacheContent{}, some, all}) {
      fill_cache(executor, device, graph, content, kernels::device::Reads::shifted, {});
      BatchMaker<HostExecutor> maker(executor, device, fanouts, kernels::device::Reads::shifted, at::kCPU);
      for (std::uint64_t batch = 0; batch < 5; ++batch) {
        BatchData expected;
        prepare_batch(graph, sampler, {3, 1, batch}, some_seeds(static_cast<VertexId>(batch)), expected);
        expect_same(maker.prepare({3, 1, batch}, some_seeds(static_cast<VertexId>(batch))), expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Features, BatchMakerTest,
                         ::testing::Values(std::pair(graph::FeatureType::fp32, 5L),
                                           std::pair(graph::FeatureType::fp16, 3L),
                                           std::pair(graph::FeatureType::bf16, 7L),
                                           std::pair(graph::FeatureType::fp16, 100L)));

}  // namespace
}  // namespace gnomon::runtime
