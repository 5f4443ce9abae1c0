#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "runtime/cache/preferred_rows.h"
#include "runtime/emulated/emulated_device.h"
#include "runtime/training/biased_graph.h"
#include "tests/runtime/emulated/emulated_options.h"
#include "tests/runtime/test_runs.h"

// Draws that prefer what the device's cache really holds (A3GNN).

namespace gnomon::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

plan::Plan in_index_order(const char* preset, int workers = 2) {
  auto plan = plan::resolve(plan::find_plan(preset), {3, plan::DeviceKind::emulated}, preset);
  plan.order = plan::Order::index;
  plan.workers = plan.schedule == plan::Schedule::sequential ? 1 : workers;
  plan.device_threads = 1;
  return plan;
}

TrainReport run(const plan::Plan& plan, const DeviceOptions& device) {
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = plan};
  options.device = device;
  return train(graph_of_tests(), options);
}

/// The reads of rows in an epoch of the biased training, and those of preferred rows, by sampling it again.
CacheUse counted(const plan::Plan& plan, const plan::Job& job, std::uint64_t epoch) {
  const auto rows = preferred_rows(graph_of_tests(), plan);
  const std::set<graph::VertexId> held(rows.begin(), rows.end());
  const auto biased = biased_graph(graph_of_tests(), plan, false);
  kernels::cpu::Sampler sampler(kernels::cpu::view_of(biased, kernels::cpu::Draws::by_weight), job.fanouts);
  const auto order = graph::epoch_order(biased.train, job.seed, epoch);
  kernels::MiniBatch batch;
  CacheUse use;
  for (std::int64_t i = 0; i < graph::num_batches(std::ssize(order), job.batch_size); ++i) {
    sampler.sample({job.seed, epoch, static_cast<std::uint64_t>(i)},
                   graph::batch_seeds(order, job.batch_size, i), batch);
    for (const auto vertex : batch.vertices) {
      ++use.rows;
      use.row_hits += held.contains(vertex) ? 1 : 0;
    }
  }
  return use;
}

class A3gnnMode : public testing::TestWithParam<const char*> {};

TEST_P(A3gnnMode, EndsWithTheHostsWeightsAndReadsTheCacheFromTheFirstBatchOn) {
  const auto plan = in_index_order(GetParam());
  const auto expected = run(plan, {}).weights_hash;
  const auto report = run(plan, emulated_options());
  EXPECT_EQ(report.weights_hash, expected);
  for (const auto& epoch : report.epochs) {
    EXPECT_EQ(epoch.cache,
              counted(plan, small_job(plan::ModelKind::sage), static_cast<std::uint64_t>(epoch.epoch)));
  }
  auto fused = plan;
  fused.fused = true;
  fused.gather = plan::Gather::sampler;
  EXPECT_EQ(run(fused, emulated_options()).weights_hash, expected);
}

TEST_P(A3gnnMode, DependsNeitherOnThreadsNorOnTiming) {
  auto plan = in_index_order(GetParam());
  const auto expected = run(plan, emulated_options()).weights_hash;
  for (int threads = 1; threads <= 3; ++threads) {
    plan.workers = plan.schedule == plan::Schedule::sequential ? 1 : threads;
    plan.worker_threads = 4 - threads;
    plan.device_threads = threads;
    TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = plan};
    options.device = emulated_options();
    options.before_stage = random_delays(static_cast<std::uint64_t>(threads));
    EXPECT_EQ(train(graph_of_tests(), options).weights_hash, expected) << threads;
  }
}

TEST_P(A3gnnMode, ReplaysTheOrderInWhichBatchesWereReady) {
  auto plan = in_index_order(GetParam());
  plan.order = plan::find_plan(GetParam()).order;
  const auto report = run(plan, emulated_options());
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = plan};
  options.device = emulated_options();
  for (const auto& epoch : report.epochs) {
    options.replay.push_back(epoch.log.trained);
  }
  EXPECT_EQ(train(graph_of_tests(), options).weights_hash, report.weights_hash);
}

INSTANTIATE_TEST_SUITE_P(Presets, A3gnnMode,
                         testing::Values("a3gnn-sequential", "a3gnn-mode1", "a3gnn-mode2"),
                         [](const auto& preset) {
                           const std::string name = preset.param;
                           return name.substr(name.find('-') + 1);
                         });

TEST(BiasToTheCache, IsTheSameWhereTheDevicePrepares) {
  const auto expected = run(in_index_order("a3gnn-mode1"), emulated_options()).weights_hash;
  auto plan = plan_of(plan::Schedule::sequential, plan::Route::device, 0);
  const auto preset = plan::find_plan("a3gnn-mode1");
  plan.bias = preset.bias;
  plan.cache = preset.cache;
  plan.exact = false;
  const auto report = run(plan, emulated_options());
  EXPECT_EQ(report.weights_hash, expected);
  EXPECT_EQ(report.epochs.front().cache, counted(plan, small_job(plan::ModelKind::sage), 0));
  auto both = claim_ahead_plan(3, 2);
  both.bias = plan.bias;
  both.cache = plan.cache;
  both.exact = false;
  EXPECT_EQ(run(both, emulated_options()).weights_hash, expected);
}

TEST(BiasToTheCache, SaysThatTheRowsDoNotFit) {
  auto plan = in_index_order("a3gnn-mode1");
  plan.cache.budget = 0.9;
  EXPECT_THAT([&] { run(plan, emulated_options(100'000)); },
              ThrowsMessage<base::Failure>(AllOf(HasSubstr("does not suffice for placing the graph"),
                                                 HasSubstr("lower the plan's cache.budget"))));
}

/// Rows that the cache holds do not cross the link, and the batch is the same.
TEST(BiasToTheCache, CopiesTheOtherRowsOnly) {
  const auto plan = in_index_order("a3gnn-mode1");
  const auto job = small_job(plan::ModelKind::sage);
  const auto placed = std::make_shared<const PlacedGraph>(
      place(graph_of_tests(), kernels::cpu::Draws::uniform, plan::Placement::first_touch, {0}));
  emulated::EmulatedDevice device(job, emulated_options(), {});
  device.take_plan(plan, placed);
  const auto rows = preferred_rows(graph_of_tests(), plan);
  const auto slots = slots_of(graph_of_tests().num_vertices(), rows);
  kernels::cpu::Sampler sampler(placed->topology, job.fanouts);
  const std::vector<graph::VertexId> seeds = {rows[0], rows[1], 3, 1, 4};
  const auto copy = [&](bool split) {
    auto slot = device.slots().take();
    prepare_batch(graph_of_tests(), sampler, {1, 2, 3}, seeds, *slot,
                  split ? std::span<const std::int32_t>(slots) : std::span<const std::int32_t>());
    EXPECT_EQ(slot->split.is_used(), split);
    const auto before = device.link_use().copied_bytes;
    auto batch = device.copy(std::move(slot));
    EXPECT_EQ(device.link_use().copied_bytes - before, batch.size.bytes);
    return batch;
  };
  const auto whole = copy(false);
  const auto divided = copy(true);
  EXPECT_TRUE(divided.tensors.features.equal(whole.tensors.features));
  const auto use = device.take_cache_use();
  EXPECT_EQ(use.rows, whole.size.vertices);
  EXPECT_GE(use.row_hits, 2);
  const std::int64_t bytes_of_row = graph_of_tests().features.row_bytes();
  EXPECT_EQ(whole.size.bytes - divided.size.bytes, use.row_hits * bytes_of_row - use.rows * (8 + 4));
}

}  // namespace
}  // namespace gnomon::runtime
