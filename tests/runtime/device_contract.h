#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "runtime/device.h"
#include "tests/runtime/device_batches.h"
#include "tests/runtime/test_runs.h"

/// The contract of runtime/device.h as tests that every implementation passes:
///
///     struct World {
///       static std::string why_not();  // why there is no such device here; empty if there is one
///       static std::unique_ptr<Device> open(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
///                                           const plan::Plan& plan);
///     };
///     INSTANTIATE_TYPED_TEST_SUITE_P(Name, DeviceContract, World);
namespace gnomon::runtime {

template <class World>
class DeviceContract : public ::testing::Test {
 protected:
  static constexpr std::int64_t some_batches = 4;

  void SetUp() override {
    if (const auto why = World::why_not(); !why.empty()) {
      GTEST_SKIP() << why;
    }
    graph_ = std::make_shared<const PlacedGraph>(place(
        test::planted_graph(1500, 32), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
    sampler_ = std::make_unique<kernels::cpu::Sampler>(graph_->topology, job_.fanouts);
    order_ = graph::epoch_order(graph_->graph.train, job_.seed, 0);
  }

  static plan::Plan device_plan() { return plan_of(plan::Schedule::sequential, plan::Route::both, 1); }
  static plan::Plan fused_plan() {
    auto plan = device_plan();
    plan.fused = true;
    return plan;
  }
  static plan::Plan cached_plan() {
    auto plan = device_plan();
    plan.cache.policy = plan::CachePolicy::presample;
    plan.cache.topology = true;
    plan.cache.budget = 1e-3;
    return plan;
  }
  std::unique_ptr<Device> open(const plan::Plan& plan) { return World::open(graph_, job_, plan); }

  kernels::BatchKey key(std::int64_t batch) const {
    return {job_.seed, 0, static_cast<std::uint64_t>(batch)};
  }
  std::span<const graph::VertexId> seeds(std::int64_t batch) const {
    return graph::batch_seeds(order_, job_.batch_size, batch);
  }
  BatchData expected(std::int64_t batch) {
    BatchData data;
    prepare_batch(graph_->graph, *sampler_, key(batch), seeds(batch), data);
    return data;
  }
  void fill(BatchData& data, std::int64_t batch, bool features) {
    if (features) {
      prepare_batch(graph_->graph, *sampler_, key(batch), seeds(batch), data);
    } else {
      sample_batch(graph_->graph, *sampler_, key(batch), seeds(batch), data);
    }
  }
  Slot slot_with(Device& device, std::int64_t batch, bool features) {
    auto slot = device.slots().take();
    fill(*slot, batch, features);
    return slot;
  }
  void expect_whole(const DeviceBatch& batch, const BatchData& data) {
    expect_same(batch, data);
    EXPECT_EQ(batch.size.vertices, std::ssize(data.batch.vertices));
    EXPECT_EQ(batch.size.edges, data.batch.num_edges());
    EXPECT_GT(batch.size.bytes, static_cast<std::int64_t>(data.features.size()));
  }
  void expect_prepares(Device& device) {
    for (std::int64_t batch = 0; batch < some_batches; ++batch) {
      expect_whole(device.prepare(key(batch), seeds(batch)), expected(batch));
    }
  }
  /// Trains on a batch without features and expects that its first layer reads them.
  void expect_lends(Device& device, DeviceBatch batch, const BatchData& data) {
    int calls = 0;
    device.train(std::move(batch), [&](const nn::TensorBatch& tensors) {
      ++calls;
      EXPECT_FALSE(tensors.features.defined());
      ASSERT_NE(tensors.stored, nullptr);
      const auto features = view_of(data).features.to(at::kFloat);
      ASSERT_EQ(tensors.stored->size(0), features.size(0));
      auto rows = at::empty(features.sizes(), at::TensorOptions(device.tensor_device()));
      tensors.stored->read(0, {}, rows);
      expect_same(rows, features);
    });
    EXPECT_EQ(calls, 1);
  }

  plan::Job job_ = small_job(plan::ModelKind::gcn);  // reads the degrees
  std::shared_ptr<const PlacedGraph> graph_;
  std::unique_ptr<kernels::cpu::Sampler> sampler_;
  std::vector<graph::VertexId> order_;
};

TYPED_TEST_SUITE_P(DeviceContract);

TYPED_TEST_P(DeviceContract, PreparesTheBatchesOfPrepareBatch) {
  const auto device = this->open(this->device_plan());
  this->expect_prepares(*device);
}

TYPED_TEST_P(DeviceContract, CopiesWhatTheSlotHolds) {
  const auto device = this->open(this->device_plan());
  for (std::int64_t batch = 0; batch < this->some_batches; ++batch) {
    this->expect_whole(device->copy(this->slot_with(*device, batch, true)), this->expected(batch));
  }
}

TYPED_TEST_P(DeviceContract, SamplesIntoHostMemoryAndGathersLater) {
  auto plan = this->device_plan();
  plan.gather = plan::Gather::trainer;
  const auto device = this->open(plan);
  for (std::int64_t batch = 0; batch < this->some_batches; ++batch) {
    const auto expected = this->expected(batch);
    auto slot = device->slots().take();
    device->sample(this->key(batch), this->seeds(batch), *slot);
    EXPECT_EQ(slot->features.size(), 0U);
    EXPECT_EQ(slot->batch.vertices, expected.batch.vertices);
    auto gathered = device->copy(std::move(slot));
    EXPECT_FALSE(tensors_of(gathered).features.defined());
    device->gather(gathered);
    expect_same(gathered, expected);
  }
}

TYPED_TEST_P(DeviceContract, LendsStoredFeaturesWhereThePlanIsFused) {
  const auto device = this->open(this->fused_plan());
  for (std::int64_t batch = 0; batch < this->some_batches; ++batch) {
    const auto expected = this->expected(batch);
    this->expect_lends(*device, device->prepare(this->key(batch), this->seeds(batch)), expected);
    this->expect_lends(*device, device->copy(this->slot_with(*device, batch, false)), expected);
  }
}

TYPED_TEST_P(DeviceContract, TrainsOnceAndFreesTheSlot) {
  const auto device = this->open(this->device_plan());
  auto slot = this->slot_with(*device, 0, true);
  const BatchData* address = slot.get();
  int calls = 0;
  device->train(device->copy(std::move(slot)), [&](const nn::TensorBatch& tensors) {
    ++calls;
    EXPECT_EQ(tensors.features.device(), device->tensor_device());
  });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(device->slots().take().get(), address);
  EXPECT_THROW(device->train(device->copy(this->slot_with(*device, 1, true)),
                             [](const nn::TensorBatch&) { throw std::runtime_error("a step that fails"); }),
               std::runtime_error);
  EXPECT_EQ(device->slots().take().get(), address);
  this->expect_prepares(*device);
}

TYPED_TEST_P(DeviceContract, ContinuesWithAnotherPlan) {
  const auto device = this->open(this->device_plan());
  this->expect_prepares(*device);
  device->take_plan(this->fused_plan(), this->graph_);
  this->expect_lends(*device, device->prepare(this->key(0), this->seeds(0)), this->expected(0));
  auto threads = this->device_plan();
  threads.device_threads = 2;
  device->take_plan(threads, this->graph_);
  this->expect_prepares(*device);
  // The same data placed again, as after a change of plan.placement.
  device->take_plan(threads, std::make_shared<const PlacedGraph>(*this->graph_));
  this->expect_prepares(*device);
  if (device->has_link()) {
    auto held = this->device_plan();
    held.topology = held.features = plan::Home::device;
    device->take_plan(held, this->graph_);
    this->expect_prepares(*device);
    device->take_plan(this->device_plan(), this->graph_);
    this->expect_prepares(*device);
  }
}

TYPED_TEST_P(DeviceContract, CachesAnswerAfterTheFirstTraining) {
  const auto device = this->open(this->device_plan());
  this->expect_prepares(*device);
  EXPECT_EQ(device->take_cache_use(), CacheUse{});
  if (!device->has_link()) {
    return;
  }
  device->take_plan(this->cached_plan(), this->graph_);
  device->train(device->prepare(this->key(0), this->seeds(0)), [](const nn::TensorBatch&) {});
  device->fill_due_caches();
  this->expect_prepares(*device);
  const auto use = device->take_cache_use();
  EXPECT_GT(use.rows, 0);
  EXPECT_GT(use.row_hits, 0);
  EXPECT_GT(use.list_hits, 0);
  EXPECT_EQ(device->take_cache_use(), CacheUse{});
}

TYPED_TEST_P(DeviceContract, TellsItsFacts) {
  const auto device = this->open(this->device_plan());
  const auto facts = device->measure();
  EXPECT_FALSE(facts.name.empty());
  EXPECT_GT(facts.memory_bytes, 0);
  EXPECT_GE(facts.peak_bytes, 0);
  EXPECT_LE(facts.peak_bytes, facts.memory_bytes);
  EXPECT_EQ(facts.link_bandwidth_bytes_per_s.has_value(), device->has_link());
  for (const auto& positive :
       {facts.memory_bandwidth_bytes_per_s, facts.link_bandwidth_bytes_per_s, facts.link_saturation_share}) {
    EXPECT_GT(positive.value_or(1), 0);
  }
  EXPECT_LE(facts.link_saturation_share.value_or(1), 1);
  this->expect_prepares(*device);
}

REGISTER_TYPED_TEST_SUITE_P(DeviceContract, PreparesTheBatchesOfPrepareBatch, CopiesWhatTheSlotHolds,
                            SamplesIntoHostMemoryAndGathersLater, LendsStoredFeaturesWhereThePlanIsFused,
                            TrainsOnceAndFreesTheSlot, ContinuesWithAnotherPlan,
                            CachesAnswerAfterTheFirstTraining, TellsItsFacts);

}  // namespace gnomon::runtime
