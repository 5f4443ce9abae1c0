#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "nn/learner.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/host_machine.h"
#include "runtime/streams/stream_device.h"
#include "schedule/run_epoch.h"
#include "schedule/timeline.h"
#include "tests/runtime/streams/host_driver.h"
#include "tests/runtime/test_runs.h"

// Epochs of the real machine on a device whose streams do their work late. Steps, too, are work of its
// stream.

namespace gnomon::runtime {
namespace {

using schedule::Stage;

class StagesInFlight : public ::testing::Test {
 protected:
  using Device = StreamDevice<HostDriver>;

  kernels::BatchKey key(std::int64_t batch) const {
    return {job_.seed, 0, static_cast<std::uint64_t>(batch)};
  }
  std::span<const graph::VertexId> seeds(std::int64_t batch) const {
    return graph::batch_seeds(order_, job_.batch_size, batch);
  }
  nn::Learner learner() const {
    return nn::Learner(job_, graph_->graph.features.columns, graph_->graph.num_classes);
  }
  /// Of training one mini-batch after the other.
  std::string expected_weights() const {
    auto own = learner();
    nn::StepSums sums;
    kernels::cpu::Sampler sampler(graph_->topology, job_.fanouts);
    BatchData data;
    for (std::int64_t batch = 0; batch < batches_; ++batch) {
      prepare_batch(graph_->graph, sampler, key(batch), seeds(batch), data);
      own.step(view_of(data), 0, batch, sums);
    }
    return nn::hash_of(own.model().parameters());
  }
  void open(const plan::Plan& plan) {
    device_ = std::make_unique<Device>(driver_, job_, DeviceOptions{}, base::Progress());
    device_->take_plan(plan, graph_);
    host_slots_.resize(static_cast<std::size_t>(batches_));
    device_slots_.resize(static_cast<std::size_t>(batches_));
  }
  /// Stages that train `learner`.
  StageWork work_for(nn::Learner& learner) {
    const auto at = [](std::int64_t position) { return static_cast<std::size_t>(position); };
    StageWork work;
    work.cpu_batch = [this, at](std::int64_t position, int) {
      auto slot = device_->slots().take();
      prepare_batch(graph_->graph, sampler_, key(position), seeds(position), *slot);
      host_slots_[at(position)] = std::move(slot);
    };
    work.transfer = [this, at](std::int64_t position, int) {
      device_slots_[at(position)] = device_->copy(std::move(host_slots_[at(position)]));
    };
    work.device_batch = [this, at](std::int64_t position, int) {
      device_slots_[at(position)] = device_->prepare(key(position), seeds(position));
    };
    work.train = [this, at, &learner](std::int64_t position, int) {
      auto batch = std::exchange(device_slots_[at(position)], {});
      device_slots_[at(position)].work =
          device_->train(std::move(batch), [&](const nn::TensorBatch& tensors) {
            driver_.world->streams.back()->start(
                [this, &learner, tensors, position] { learner.step(tensors, 0, position, sums_); });
          });
    };
    work.left_to_device = [this, at](Stage stage, std::int64_t position) {
      return stage == Stage::cpu_batch ? nullptr : std::move(device_slots_[at(position)].work);
    };
    return work;
  }
  static plan::Plan plan_with(plan::Schedule schedule, plan::Route route, double share = 0) {
    auto plan = plan_of(schedule, route, 1);
    plan.prepare_share = share;
    plan.device_buffer = 2;
    return plan;
  }

  plan::Job job_ = small_job(plan::ModelKind::sage);
  std::shared_ptr<const PlacedGraph> graph_ = std::make_shared<const PlacedGraph>(
      place(graph_of_tests(), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  std::vector<graph::VertexId> order_ = graph::epoch_order(graph_->graph.train, job_.seed, 0);
  std::int64_t batches_ = graph::num_batches(std::ssize(order_), job_.batch_size);
  kernels::cpu::Sampler sampler_{graph_->topology, job_.fanouts};
  HostDriver driver_;
  std::unique_ptr<Device> device_;
  nn::StepSums sums_;
  std::vector<Slot> host_slots_;
  std::vector<DeviceBatch> device_slots_;
};

TEST_F(StagesInFlight, EndWithTheWeightsOfOneStageAfterTheOther) {
  const auto expected = expected_weights();
  for (const auto& plan : {plan_with(plan::Schedule::sequential, plan::Route::device),
                           plan_with(plan::Schedule::pipelined, plan::Route::device, 0.5),
                           plan_with(plan::Schedule::pipelined, plan::Route::cpu),
                           plan_with(plan::Schedule::mixed, plan::Route::both)}) {
    open(plan);
    auto own = learner();
    HostMachine machine(plan.workers, work_for(own), {}, plan.prepares_beside_training());
    schedule::run_epoch(plan, batches_, machine);
    EXPECT_EQ(nn::hash_of(own.model().parameters()), expected)
        << plan.name << ", route " << base::name_of(plan.route) << ", share " << plan.prepare_share;
  }
}

TEST_F(StagesInFlight, OfOneStreamDoNotOverlap) {
  const auto plan = plan_with(plan::Schedule::sequential, plan::Route::device);
  open(plan);
  auto own = learner();
  HostMachine machine(0, work_for(own));
  schedule::TracedMachine traced(machine);
  const auto log = schedule::run_epoch(plan, batches_, traced);
  auto spans = traced.timeline();
  ASSERT_EQ(std::ssize(spans), 2 * batches_);
  std::sort(spans.begin(), spans.end(),
            [](const auto& left, const auto& right) { return left.begin_s < right.begin_s; });
  for (std::size_t i = 1; i < spans.size(); ++i) {
    EXPECT_GE(spans[i].begin_s, spans[i - 1].end_s);
  }
  EXPECT_GE(spans.front().begin_s, log.begin_s);
  EXPECT_LE(spans.back().end_s, log.end_s);
}

/// With stages queued ahead, the host waits for the sizes of each sample only, and at the end for the last
/// mini-batch to be prepared and trained.
TEST_F(StagesInFlight, TakeOneWaitABatch) {
  open(plan_with(plan::Schedule::sequential, plan::Route::device));
  auto own = learner();
  auto work = work_for(own);
  std::binary_semaphore is_queued(0);
  work.transfer = [&](std::int64_t, int) { is_queued.acquire(); };
  HostMachine machine(0, work);
  const auto epoch = [&] {
    const auto before = driver_.world->counts;
    auto last = machine.start(Stage::transfer, 0, {});
    for (std::int64_t position = 0; position < batches_; ++position) {
      const auto prepared = machine.start(Stage::device_batch, position, std::array{last});
      last = machine.start(Stage::train, position, std::array{prepared});
    }
    is_queued.release();
    machine.wait_any(std::array{last});
    return (driver_.world->counts - before).waits;
  };
  (void)epoch();  // tells how large batches are
  EXPECT_EQ(epoch(), batches_ + 2);
}

}  // namespace
}  // namespace gnomon::runtime
