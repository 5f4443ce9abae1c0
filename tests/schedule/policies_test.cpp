#include "schedule/policies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "tests/virtual_machine.h"

namespace gnomon::schedule {
namespace {

using plan::Order;
using plan::Plan;
using plan::Route;
using plan::Schedule;
using test::VirtualMachine;

struct Times {
  double cpu = 0, transfer = 0, device = 0, train = 0;
  double gather = 0, reduce = 0, read = 0, prepare = 0, ship = 0;  ///< prepare: a worker's share of a group
};

VirtualMachine machine_with(const Plan& plan, const Times& times) {
  const auto seconds = [times](Stage stage, std::int64_t) {
    switch (stage) {
      case Stage::cpu_batch:
        return times.cpu;
      case Stage::transfer:
        return times.transfer;
      case Stage::device_batch:
        return times.device;
      case Stage::device_gather:
        return times.gather;
      case Stage::all_reduce:
        return times.reduce;
      case Stage::group_read:
        return times.read;
      case Stage::group_prepare:
        return times.prepare;
      case Stage::group_transfer:
        return times.ship;
      case Stage::train:
        break;
    }
    return times.train;
  };
  return {std::max(1, plan.workers), seconds, plan.prepares_beside_training()};
}

EpochLog run(const Plan& plan, std::int64_t batches, const Times& times) {
  auto machine = machine_with(plan, times);
  return run_epoch(plan, batches, machine);
}

Plan sequential(Route route) {
  Plan plan;
  plan.route = route;
  plan.workers = route == Route::cpu ? 1 : 0;
  return plan;
}

Plan pipelined(int workers, Order order, int cpu_buffer = 2, int device_buffer = 2) {
  Plan plan;
  plan.schedule = Schedule::pipelined;
  plan.order = order;
  plan.workers = workers;
  plan.cpu_buffer = cpu_buffer;
  plan.device_buffer = device_buffer;
  return plan;
}

Plan dual_buffer(int workers, int cpu_buffer, int device_buffer) {
  Plan plan = pipelined(workers, Order::as_ready, cpu_buffer, device_buffer);
  plan.schedule = Schedule::dual_buffer;
  plan.route = Route::both;
  return plan;
}

Plan claim_ahead(int workers, int look_ahead, int cpu_buffer = 4, int device_buffer = 8) {
  Plan plan = pipelined(workers, Order::index, cpu_buffer, device_buffer);
  plan.schedule = Schedule::claim_ahead;
  plan.route = Route::both;
  plan.look_ahead = look_ahead;
  return plan;
}

TEST(Sequential, CpuRoute) {
  // 3 x (2 + 1 + 4)
  const auto log = run(sequential(Route::cpu), 3, {.cpu = 2, .transfer = 1, .train = 4});
  EXPECT_DOUBLE_EQ(log.seconds(), 21);
  EXPECT_EQ(log.trained, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_DOUBLE_EQ(log.blocked_on_cpu_s, 3 * 2);
  EXPECT_EQ(log.cpu_batches, 3);
}

TEST(Sequential, DeviceRoute) {
  // 3 x (5 + 4)
  const auto log = run(sequential(Route::device), 3, {.device = 5, .train = 4});
  EXPECT_DOUBLE_EQ(log.seconds(), 27);
  EXPECT_EQ(log.cpu_batches, 0);
}

TEST(Pipelined, TrainingBound) {
  // First batch 2 + 1, then the device trains without a pause: 3 + 4 x 4.
  const auto log = run(pipelined(1, Order::index), 4, {.cpu = 2, .transfer = 1, .train = 4});
  EXPECT_DOUBLE_EQ(log.seconds(), 19);
  EXPECT_DOUBLE_EQ(log.blocked_on_cpu_s, 2);
}

TEST(Pipelined, WorkerBound) {
  // One worker, 4 x 6; the last batch's copy and training stand behind it: 24 + 1 + 2.
  const auto one = run(pipelined(1, Order::index), 4, {.cpu = 6, .transfer = 1, .train = 2});
  EXPECT_DOUBLE_EQ(one.seconds(), 27);
  // Two workers finish two batches at 6 and two at 12; copies 12..13, 13..14; trainings 13..15, 15..17.
  const auto two = run(pipelined(2, Order::index), 4, {.cpu = 6, .transfer = 1, .train = 2});
  EXPECT_DOUBLE_EQ(two.seconds(), 17);
}

TEST(Pipelined, CopyBound) {
  // Workers are never the slowest; the copies are: 1 + 5 x 3 + 1.
  const auto log = run(pipelined(3, Order::index), 5, {.cpu = 1, .transfer = 3, .train = 1});
  EXPECT_DOUBLE_EQ(log.seconds(), 17);
}

TEST(Pipelined, BuffersHoldTheWorkersBack) {
  // Training 10 each. Host room: 1 worker + 1; device room: 1 + 1 in training. By time 12 batches 0 and 1 are
  // on the device, 2 and 3 on the host, and the worker is held until batch 2 is copied when batch 0 is
  // trained.
  auto plan = pipelined(1, Order::index, 1, 1);
  auto machine = machine_with(plan, {.cpu = 1, .transfer = 1, .train = 10});
  const auto log = run_epoch(plan, 6, machine);
  EXPECT_DOUBLE_EQ(log.seconds(), 2 + 6 * 10);
  std::map<std::int64_t, double> prepared;
  for (const auto& span : machine.spans()) {
    if (span.stage == Stage::cpu_batch) {
      prepared[span.batch] = span.begin_s;
    }
  }
  EXPECT_DOUBLE_EQ(prepared[3], 3);   // batch 1's slot is free when it is copied at 3
  EXPECT_DOUBLE_EQ(prepared[4], 13);  // batch 2 is copied from 12 to 13, when training 0 has made room
  EXPECT_DOUBLE_EQ(log.blocked_on_device_s, (13 - 4) + (23 - 14));  // before batches 4 and 5
}

TEST(Pipelined, AsReadyOvertakesASlowBatch) {
  VirtualMachine machine(2, [](Stage stage, std::int64_t batch) {
    return stage == Stage::cpu_batch && batch == 0 ? 10.0 : 1.0;
  });
  const auto log = run_epoch(pipelined(2, Order::as_ready), 4, machine);
  EXPECT_EQ(log.trained, (std::vector<std::int64_t>{1, 2, 3, 0}));
  VirtualMachine same(2, [](Stage stage, std::int64_t batch) {
    return stage == Stage::cpu_batch && batch == 0 ? 10.0 : 1.0;
  });
  EXPECT_EQ(run_epoch(pipelined(2, Order::index), 4, same).trained, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(DualBuffer, OneOverlapByHand) {
  // Device buffer 2, CPU buffer 1, one worker that needs 5. Filling: the worker takes 0 (0..5), the device
  // prepares 1 (0..2) and 2 (2..4). Blocking: it trains 1 (4..5) and prepares 4 (5..7), for at 5 the worker
  // took 3 (5..10). Flushing: trains 2 (7..8) while 0 is copied (7..8), then 4 (8..9) and 0 (9..10). At 10
  // the worker takes 5 (10..15): nothing is left to claim. Draining: copies 3 (10..11), trains it (11..12),
  // waits for 5 (15), copies (15..16) and trains it (16..17).
  const auto log = run(dual_buffer(1, 1, 2), 6, {.cpu = 5, .transfer = 1, .device = 2, .train = 1});
  EXPECT_EQ(log.trained, (std::vector<std::int64_t>{1, 2, 4, 0, 3, 5}));
  EXPECT_DOUBLE_EQ(log.seconds(), 17);
  EXPECT_DOUBLE_EQ(log.blocked_on_cpu_s, (7 - 4) + (15 - 12));  // the blocking phase and the wait for 5
  EXPECT_EQ(log.cpu_batches, 3);
}

TEST(ClaimAhead, ByHand) {
  // Look-ahead 2, one worker that needs 6; device 2 + 1 a batch, copies 1. The worker takes 2 (0..6). Device:
  // 0 (0..2), trains (2..3), 1 (3..5), trains (5..6). At 6 batch 2 is copied (6..7) and trained (7..8); the
  // head being 3, the worker takes 5 (6..12). Device: 3 (8..10), trains (10..11), 4 (11..13), trains (13..14)
  // while 5 is copied (13..14), trains 5 (14..15).
  const auto log = run(claim_ahead(1, 2), 6, {.cpu = 6, .transfer = 1, .device = 2, .train = 1});
  EXPECT_EQ(log.trained, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_DOUBLE_EQ(log.seconds(), 15);
  EXPECT_EQ(log.cpu_batches, 2);
}

TEST(ClaimAhead, CopiesBesideDeviceBatching) {
  // The worker takes 2 (0..6.5). Device: 0 and 1 until 6, then prepares 3 (6..8). Batch 2 is copied after
  // that (8..9) and trained (9..10), then 3 (10..11); or at once (6.5..7.5), so that it is trained 8..9 and
  // 3 9..10.
  const Times times{.cpu = 6.5, .transfer = 1, .device = 2, .train = 1};
  auto plan = claim_ahead(1, 2);
  EXPECT_DOUBLE_EQ(run(plan, 4, times).seconds(), 11);
  plan.copy_during_device_batch = true;
  EXPECT_DOUBLE_EQ(run(plan, 4, times).seconds(), 10);
}

/// What every policy owes, checked from the outside on one run.
void check_contract(const Plan& plan, std::int64_t batches, const EpochLog& log, VirtualMachine& machine) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(batches));
  std::iota(all.begin(), all.end(), 0);
  auto trained = log.trained;
  if (plan.order == Order::as_ready) {
    std::sort(trained.begin(), trained.end());
  }
  ASSERT_EQ(trained, all);
  std::vector<double> ready(all.size(), -1);
  std::vector<int> trainings(all.size(), 0);
  std::vector<std::pair<double, int>> host_room;  // +1 when a worker begins, -1 when the copy ends
  std::vector<std::pair<double, int>>
      device_room;  // +1 when it comes to the device, -1 when its training begins
  for (const auto& span : machine.spans()) {
    auto& at = ready[static_cast<std::size_t>(span.batch)];
    switch (span.stage) {
      case Stage::cpu_batch:
        EXPECT_EQ(at, -1);
        at = span.end_s;
        host_room.emplace_back(span.begin_s, 1);
        break;
      case Stage::transfer:
        EXPECT_GE(span.begin_s, at);
        EXPECT_NE(at, -1);
        at = span.end_s;
        host_room.emplace_back(span.end_s, -1);
        device_room.emplace_back(span.begin_s, 1);
        break;
      case Stage::device_batch:
        EXPECT_EQ(at, -1);
        at = span.end_s;
        device_room.emplace_back(span.begin_s, 1);
        break;
      case Stage::train:
        EXPECT_GE(span.begin_s, at);
        EXPECT_NE(at, -1);
        ++trainings[static_cast<std::size_t>(span.batch)];
        device_room.emplace_back(span.begin_s, -1);
        break;
      default:
        break;  // not of a batch's way
    }
  }
  EXPECT_EQ(trainings, std::vector<int>(all.size(), 1));
  const auto peak = [](std::vector<std::pair<double, int>>& changes) {
    std::sort(changes.begin(), changes.end());
    int now = 0;
    int most = 0;
    for (const auto& [time, change] : changes) {
      most = std::max(most, now += change);
    }
    return most;
  };
  EXPECT_LE(peak(host_room), plan.workers + plan.cpu_buffer);
  EXPECT_LE(peak(device_room), plan.device_buffer + 1);
}

TEST(Policies, ContractOnRandomCases) {
  const unsigned seed = 20261121;
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::uniform_real_distribution<double> time(0.1, 10);
  for (int round = 0; round < 400; ++round) {
    const int workers = 1 + static_cast<int>(random() % 6);
    const int cpu_buffer = 1 + static_cast<int>(random() % 6);
    const int device_buffer = 1 + static_cast<int>(random() % 10);
    const int look_ahead = 1 + static_cast<int>(random() % 12);
    const auto batches = static_cast<std::int64_t>(random() % 40);
    auto both = claim_ahead(workers, look_ahead, cpu_buffer, device_buffer);
    auto overlapping = both;
    overlapping.copy_during_device_batch = true;
    const Plan plans[] = {sequential(Route::cpu),
                          sequential(Route::device),
                          pipelined(workers, Order::index, cpu_buffer, device_buffer),
                          pipelined(workers, Order::as_ready, cpu_buffer, device_buffer),
                          dual_buffer(workers, cpu_buffer, device_buffer),
                          both,
                          overlapping};
    for (const auto& plan : plans) {
      std::map<std::pair<Stage, std::int64_t>, double> drawn;
      VirtualMachine machine(std::max(1, plan.workers), [&](Stage stage, std::int64_t batch) {
        return drawn.emplace(std::pair(stage, batch), time(random)).first->second;
      });
      const auto log = run_epoch(plan, batches, machine);
      SCOPED_TRACE("round " + std::to_string(round) + ", " + std::string(base::name_of(plan.schedule)));
      check_contract(plan, batches, log, machine);
    }
  }
}

}  // namespace
}  // namespace gnomon::schedule
