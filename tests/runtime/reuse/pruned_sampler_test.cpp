#include "runtime/reuse/pruned_sampler.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/fixtures/sparse_features.h"
#include "tests/runtime/device_batches.h"
#include "tests/runtime/preparation/test_device.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

using graph::VertexId;

class Pruned : public testing::Test {
 protected:
  Pruned() : set_(rank_by_visits(count_bottom(*placed_, job_, 1, {}).destinations)) {
    seeds_.assign(placed_->graph.train.begin(), placed_->graph.train.begin() + 20);
  }

  HotVertices hot(double ratio) const {
    return {set_.ranks, static_cast<std::uint32_t>(hot_count(set_, ratio))};
  }
  std::shared_ptr<const SplitBottom> prepare(double ratio, BatchData& data, int threads = 1) {
    PrunedSampler sampler(placed_->topology, job_, {threads, {}, {}});
    return sampler.prepare(placed_->graph, key_, seeds_, hot(ratio), data);
  }
  BatchData exact() {
    kernels::cpu::Sampler sampler(placed_->topology, job_.fanouts);
    BatchData data;
    prepare_batch(placed_->graph, sampler, key_, seeds_, data);
    return data;
  }

  std::shared_ptr<const PlacedGraph> placed_ = std::make_shared<const PlacedGraph>(
      place(test::planted_graph(300, 8), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  plan::Job job_ = small_job(plan::ModelKind::sage);
  HotSet set_;
  kernels::BatchKey key_{job_.seed, 1, 3};
  std::vector<VertexId> seeds_;
};

/// The neighbours of each destination of the last block, as vertices.
std::map<VertexId, std::vector<VertexId>> neighbours_in(const BatchData& data) {
  std::map<VertexId, std::vector<VertexId>> lists;
  const auto& block = data.batch.blocks.back();
  for (std::size_t v = 0; v < static_cast<std::size_t>(block.num_destinations); ++v) {
    auto& list = lists[data.batch.vertices[v]];
    for (auto edge = block.indptr[v]; edge < block.indptr[v + 1]; ++edge) {
      const auto local = block.indices[static_cast<std::size_t>(edge)];
      list.push_back(data.batch.vertices[static_cast<std::size_t>(local)]);
    }
  }
  return lists;
}

TEST_F(Pruned, WithoutHotVerticesItIsTheExactMiniBatch) {
  for (const int threads : {1, 2, 3}) {
    BatchData data;
    const auto bottom = prepare(0, data, threads);
    EXPECT_FALSE(bottom->order.defined());
    const auto expected = exact();
    EXPECT_EQ(data.batch.vertices, expected.batch.vertices);
    DeviceBatch batch;
    batch.tensors = view_of(data);
    expect_same(batch, expected);
    expect_same(bottom->degrees, view_of(expected).degrees.narrow(0, 0, bottom->degrees.size(0)));
  }
}

TEST_F(Pruned, DrawsNothingBelowHotDestinations) {
  BatchData data;
  const auto bottom = prepare(0.3, data);
  const auto exactly = exact();
  const auto all = neighbours_in(exactly);
  auto cold = neighbours_in(data);
  EXPECT_FALSE(bottom->reused.empty());
  EXPECT_FALSE(cold.empty());
  for (const auto& [vertex, list] : cold) {
    EXPECT_EQ(list, all.at(vertex));
  }
  for (const VertexId vertex : bottom->reused) {
    EXPECT_TRUE(hot(0.3).holds(vertex));
    EXPECT_FALSE(cold.contains(vertex));
    EXPECT_TRUE(all.contains(vertex));
  }
  EXPECT_EQ(cold.size() + bottom->reused.size(), all.size());
  EXPECT_LT(data.batch.vertices.size(), exactly.batch.vertices.size());
  EXPECT_EQ(bottom->feature_bytes, std::ssize(data.batch.vertices) * 8 * 4);
  // The order puts every destination back where it was.
  auto parts = neighbours_in(data);
  std::vector<VertexId> computed(data.batch.vertices.begin(),
                                 data.batch.vertices.begin() + data.batch.blocks.back().num_destinations);
  computed.insert(computed.end(), bottom->reused.begin(), bottom->reused.end());
  for (std::int64_t i = 0; i < bottom->order.size(0); ++i) {
    const auto row = bottom->order[i].item<std::int64_t>();
    EXPECT_EQ(computed[static_cast<std::size_t>(row)], exactly.batch.vertices[static_cast<std::size_t>(i)]);
  }
}

TEST_F(Pruned, ADeviceWithItsOwnMemoryPreparesTheSame) {
  TestDevice device(job_);
  auto plan = plan_of(plan::Schedule::super_batch, plan::Route::device, 0);
  plan.embeddings.reuse = plan::Reuse::hot;
  device.take_plan(plan, placed_);
  for (const double ratio : {0.0, 0.3, 1.0}) {
    BatchData data;
    const auto expected = prepare(ratio, data);
    const auto batch = device.prepare_pruned(key_, seeds_, hot(ratio));
    expect_same(batch, data);
    expect_same(batch.bottom->degrees, expected->degrees);
    ASSERT_EQ(batch.bottom->order.defined(), expected->order.defined());
    if (expected->order.defined()) {
      expect_same(batch.bottom->order, expected->order);
    }
    EXPECT_EQ(batch.bottom->reused, expected->reused);
    EXPECT_EQ(batch.bottom->feature_bytes, expected->feature_bytes);
  }
}

}  // namespace
}  // namespace gnomon::runtime
