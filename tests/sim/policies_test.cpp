#include <gtest/gtest.h>

#include "sim/simulator.h"

// Whole epochs by hand: stages of a batch i are c(i) on a worker, t(i) copied, d(i) prepared by the device,
// m(i) trained.

namespace gnomon::sim {
namespace {

using plan::Order;
using plan::Plan;
using plan::Route;
using plan::Schedule;

Plan plan_of(Schedule schedule, Route route, Order order) {
  Plan plan;
  plan.schedule = schedule;
  plan.route = route;
  plan.order = order;
  plan.workers = route == Route::device ? 0 : 1;
  plan.cpu_buffer = 1;
  plan.device_buffer = 1;
  plan.look_ahead = 1;
  return plan;
}
const Plan sequential_cpu = plan_of(Schedule::sequential, Route::cpu, Order::index);
const Plan sequential_device = plan_of(Schedule::sequential, Route::device, Order::index);
const Plan pipelined = plan_of(Schedule::pipelined, Route::cpu, Order::as_ready);
const Plan dual_buffer = plan_of(Schedule::dual_buffer, Route::both, Order::as_ready);
const Plan claim_ahead = plan_of(Schedule::claim_ahead, Route::both, Order::index);

MachineModel gpu(const StageCosts& costs) { return {.cores = 1, .workers = 1, .costs = costs}; }

/// One core for a worker, copies and a device of one thread.
MachineModel one_core(const StageCosts& costs) {
  return {.cores = 1, .workers = 1, .host_device = true, .device_threads = 1, .costs = costs};
}

double epoch_s(const Plan& plan, const MachineModel& model, std::int64_t batches) {
  return Simulator().run(plan, model, batches, false).epoch_s;
}

TEST(EpochByHand, SequentialOnTheCpuRoute) {
  // 3 * (2 + 1 + 4); one thing at a time, so that one core is no worse.
  const StageCosts costs{.cpu_batch_s = 2, .transfer_s = 1, .train_s = 4};
  EXPECT_DOUBLE_EQ(epoch_s(sequential_cpu, gpu(costs), 3), 21);
  EXPECT_DOUBLE_EQ(epoch_s(sequential_cpu, one_core(costs), 3), 21);
}

TEST(EpochByHand, SequentialOnTheDeviceRoute) {
  // 3 * (3 + 2 + 4): reads, the rest of device preparation, training.
  const StageCosts costs{.device_batch_s = 5, .device_batch_link_s = 3, .train_s = 4};
  EXPECT_DOUBLE_EQ(epoch_s(sequential_device, gpu(costs), 3), 27);
}

TEST(EpochByHand, Pipelined) {
  const StageCosts costs{.cpu_batch_s = 2, .transfer_s = 1, .train_s = 4};
  // c(0) 2, t(0) 1, then training without a pause 4 * 4.
  EXPECT_DOUBLE_EQ(epoch_s(pipelined, gpu(costs), 4), 19);
}

TEST(EpochByHand, PipelinedUnderContention) {
  // c(0) 0..2; c(1) 2..4 beside m(0), which gets on at 1/1.5 and has 2 - 2/1.5 = 2/3 left at 4; then m(1).
  MachineModel model = gpu({.cpu_batch_s = 2, .train_s = 2});
  model.contention.train_beside_cpu_batch = 1.5;
  EXPECT_NEAR(epoch_s(pipelined, model, 2), 4 + 2.0 / 3 + 2, 1e-9);
}

TEST(EpochByHand, PipelinedOnOneCore) {
  // The core is never idle: 2 * (2 + 0.5 + 2). By hand: c(0) 0..2. c(1), t(0) share: t(0) ends at 3, c(1) has
  // 1.5 left and shares with m(0) until 6, when m(0) has 0.5 left and shares with t(1): 7; m(1) 7..9.
  EXPECT_NEAR(epoch_s(pipelined, one_core({.cpu_batch_s = 2, .transfer_s = 0.5, .train_s = 2}), 2), 9, 1e-9);
}

TEST(EpochByHand, DualBuffer) {
  // The worker takes batch 0 (0..4), the device 1: d(1) 0..2. Blocked on the CPU: m(1) 2..3, d(2) 3..5. All
  // is claimed, both buffers are full: m(2) 5..6 beside t(0); m(0) 6..7.
  const StageCosts costs{.cpu_batch_s = 4, .transfer_s = 1, .device_batch_s = 2, .train_s = 1};
  EXPECT_DOUBLE_EQ(epoch_s(dual_buffer, gpu(costs), 3), 7);
}

TEST(EpochByHand, DualBufferOnOneCore) {
  // Shared with the worker until it is done: d(1) 0..4, m(1) 4..6, d(2) from 6: the worker had 3 s by 6 and
  // ends at 8 with d(2) at 1 of 2: 9. m(2) and t(0) share: 11; m(0) 12. The core never idles: 4+1 + 2*2 +
  // 3*1.
  const StageCosts costs{.cpu_batch_s = 4, .transfer_s = 1, .device_batch_s = 2, .train_s = 1};
  EXPECT_NEAR(epoch_s(dual_buffer, one_core(costs), 3), 12, 1e-9);
}

TEST(EpochByHand, ClaimAhead) {
  // d(0) 0..2 beside c(1) 0..4; m(0) 2..3; d(2) 3..5; only then t(1) 5..6; m(1) 6..7; m(2) 7..8.
  const StageCosts costs{.cpu_batch_s = 4, .transfer_s = 1, .device_batch_s = 2, .train_s = 1};
  Plan plan = claim_ahead;
  plan.device_buffer = 2;
  EXPECT_DOUBLE_EQ(epoch_s(plan, gpu(costs), 3), 8);
  // With copies beside device preparation t(1) is 4..5, m(1) 5..6, m(2) 6..7.
  plan.copy_during_device_batch = true;
  EXPECT_DOUBLE_EQ(epoch_s(plan, gpu(costs), 3), 7);
}

TEST(EpochByHand, ClaimAheadOnASharedLink) {
  // As above, but device preparation reads over the link all the time. From 4 on t(1) and the last second of
  // d(2) have half of it each: both end at 6. m(1) 6..7, m(2) 7..8.
  Plan plan = claim_ahead;
  plan.device_buffer = 2;
  plan.copy_during_device_batch = true;
  const MachineModel model =
      gpu({.cpu_batch_s = 4, .transfer_s = 1, .device_batch_s = 2, .device_batch_link_s = 2, .train_s = 1});
  EXPECT_NEAR(epoch_s(plan, model, 3), 8, 1e-9);
}

TEST(EpochByHand, ClaimAheadUnderContention) {
  // Training takes twice as long beside the worker: m(0) 2..4, when the worker is done too. The head is
  // copied first and its training queued behind: t(1) 4..5, m(1) 5..6; then d(2) 6..8, m(2) 8..9.
  Plan plan = claim_ahead;
  plan.device_buffer = 2;
  MachineModel model = gpu({.cpu_batch_s = 4, .transfer_s = 1, .device_batch_s = 2, .train_s = 1});
  model.contention.train_beside_cpu_batch = 2;
  EXPECT_NEAR(epoch_s(plan, model, 3), 9, 1e-9);
}

}  // namespace
}  // namespace gnomon::sim
