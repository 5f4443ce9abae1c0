#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "schedule/run_epoch.h"
#include "schedule/timeline.h"
#include "tests/random_seed.h"
#include "tests/schedule/macro_batch_plan.h"
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

TEST(ClaimAhead, CopiesBesideTrainings) {
  // Device: 5 + 4 a batch, so trainings at 5..9, 14..18, 23..27. The worker takes 6 (0..8.5) and 7 (8.5..17).
  // Batch 6 is copied at once, for nothing is known of copies yet; batch 7 only beside the next training, as
  // its copy would not end with this one.
  test::VirtualMachine machine(1, [](Stage stage, std::int64_t) {
    return stage == Stage::cpu_batch ? 8.5 : stage == Stage::transfer ? 3 : stage == Stage::train ? 4 : 5;
  });
  run_epoch(claim_ahead(1, 6), 10, machine);
  std::vector<double> begins_s;
  for (const auto& span : machine.spans()) {
    if (span.stage == Stage::transfer && span.batch <= 7) {
      begins_s.push_back(span.begin_s);
    }
  }
  EXPECT_EQ(begins_s, (std::vector<double>{8.5, 23}));
}

TEST(ClaimAhead, FindsTheLookAhead) {
  // The device alone needs 3 + 1 a batch, a worker 20 + 1: 21 / 4, rounded up, and one. While the device
  // prepares and trains 0 to 4 (0..20) the worker prepares 7.
  test::VirtualMachine machine(1, [](Stage stage, std::int64_t) {
    return stage == Stage::cpu_batch ? 20.0 : stage == Stage::device_batch ? 3.0 : 1.0;
  });
  StageTimes expected{};
  for (const auto& [stage, seconds] : {std::pair(Stage::cpu_batch, 20.0), std::pair(Stage::transfer, 1.0),
                                       std::pair(Stage::device_batch, 3.0), std::pair(Stage::train, 1.0)}) {
    expected[static_cast<std::size_t>(stage)] = seconds;
  }
  TracedMachine informed(machine, expected);
  const auto log = run_epoch(claim_ahead(1, 0), 12, informed);
  EXPECT_EQ(log.cpu_batches, 1);
  EXPECT_EQ(machine.spans()[1].batch, 7);
  // Eleven batches by the device, 4 each, one that is only trained.
  EXPECT_DOUBLE_EQ(log.seconds(), 45);
}

Plan on_devices(Plan plan, int devices) {
  plan.devices = devices;
  return plan;
}

Plan beside_training(int device_buffer) {
  Plan plan = sequential(Route::device);
  plan.schedule = Schedule::pipelined;
  plan.device_buffer = device_buffer;
  plan.prepare_share = 0.2;
  return plan;
}

Plan factored(int devices, int samplers, int queue) {
  Plan plan = sequential(Route::device);
  plan.schedule = Schedule::factored;
  plan.gather = plan::Gather::trainer;
  plan.order = Order::as_ready;
  plan.devices = devices;
  plan.samplers = samplers;
  plan.cpu_buffer = queue;
  plan.device_buffer = 1;
  return plan;
}

Plan super_batches(int length, int workers) {
  Plan plan = sequential(Route::device);
  plan.schedule = Schedule::super_batch;
  plan.embeddings.reuse = plan::Reuse::hot;
  plan.exact = false;
  plan.super_batch = length;
  plan.workers = workers;
  return plan;
}

Plan macro_batches(Route route, int partitions, int resident, int passes) {
  Plan plan = test::macro_batch_plan(route, partitions, resident);
  plan.macro.passes = passes;
  return plan;
}

Plan mixed(double cpu_share, int workers) {
  Plan plan = claim_ahead(workers, 1, 1, 1);
  plan.schedule = Schedule::mixed;
  plan.cpu_share = cpu_share;
  plan.copy_during_device_batch = true;
  return plan;
}

TEST(Pipelined, TheTrainerGathers) {
  // Sampled 0..1, copied 1..2, gathered 2..5 and trained 5..9 on the compute engine, which never pauses after
  // that: 2 + 3 x (3 + 4).
  auto plan = pipelined(1, Order::index);
  plan.gather = plan::Gather::trainer;
  EXPECT_DOUBLE_EQ(run(plan, 3, {.cpu = 1, .transfer = 1, .train = 4, .gather = 3}).seconds(), 23);
}

TEST(Sequential, TheTrainerGathers) {
  // 2 x (1 + 1 + 3 + 4)
  auto plan = sequential(Route::cpu);
  plan.gather = plan::Gather::trainer;
  EXPECT_DOUBLE_EQ(run(plan, 2, {.cpu = 1, .transfer = 1, .train = 4, .gather = 3}).seconds(), 18);
}

TEST(BesideTraining, TheSlowerOfTheTwoEnginesCounts) {
  // Training is slower: 3 + 4 x 5. Preparing is: 4 x 6 + 2. One after the other would be 4 x 8.
  EXPECT_DOUBLE_EQ(run(beside_training(1), 4, {.device = 3, .train = 5}).seconds(), 23);
  EXPECT_DOUBLE_EQ(run(beside_training(1), 4, {.device = 6, .train = 2}).seconds(), 26);
}

TEST(BesideTraining, PreparesNoMoreAheadThanTheBufferHolds) {
  // One in training, one ready, one being prepared: batch 3 waits until batch 0 is trained at 1 + 10.
  auto plan = beside_training(2);
  auto machine = machine_with(plan, {.device = 1, .train = 10});
  run_epoch(plan, 4, machine);
  for (const auto& span : machine.spans()) {
    if (span.stage == Stage::device_batch && span.batch == 3) {
      EXPECT_DOUBLE_EQ(span.begin_s, 11);
    }
  }
}

TEST(DataParallel, AStepIsASliceOfEveryDeviceAndAnAverage) {
  // Two devices, four batches, two steps: each device prepares (3) and trains (2) one a step. Preparing goes
  // on while gradients are averaged (1): step 0 is trained 3..5 and averaged 5..6, step 1 prepared 5..8,
  // trained 8..10, averaged 10..11.
  const auto plan = on_devices(sequential(Route::device), 2);
  auto machine = machine_with(plan, {.device = 3, .train = 2, .reduce = 1});
  const auto log = run_epoch(plan, 4, machine);
  EXPECT_DOUBLE_EQ(log.seconds(), 11);
  EXPECT_EQ(log.trained, (std::vector<std::int64_t>{0, 1, 2, 3}));
  for (const auto& span : machine.spans()) {
    if (span.stage == Stage::train) {
      EXPECT_EQ(span.device, span.batch % 2);
    }
  }
}

TEST(DataParallel, TheNextUpdateStandsBehindTheAverage) {
  // Preparing costs nothing: 2 x (2 + 3), whereas updates without the average would end at 4.
  const auto plan = on_devices(sequential(Route::device), 2);
  EXPECT_DOUBLE_EQ(run(plan, 4, {.train = 2, .reduce = 3}).seconds(), 10);
}

TEST(DataParallel, SharesTheWorkersAndCountsBatches) {
  // Four workers for two devices, 5 batches: steps of 2, 2 and 1. Both steps of a pair are prepared by 6, the
  // last one by 12; copied 13, trained 15.
  const auto log = run(on_devices(pipelined(4, Order::index), 2), 5, {.cpu = 6, .transfer = 1, .train = 2});
  EXPECT_DOUBLE_EQ(log.seconds(), 15);
  EXPECT_EQ(log.cpu_batches, 5);
  EXPECT_EQ(log.trained.size(), 5U);
}

TEST(Mixed, AllByOneRouteIsThatRoute) {
  EXPECT_DOUBLE_EQ(run(mixed(0, 1), 3, {.cpu = 9, .transfer = 9, .device = 5, .train = 4}).seconds(), 27);
  // 2 + 1, then training without a pause.
  EXPECT_DOUBLE_EQ(run(mixed(1, 1), 4, {.cpu = 2, .transfer = 1, .device = 50, .train = 4}).seconds(), 19);
}

TEST(Mixed, DrawsTheRouteOfEachBatch) {
  const auto log = run(mixed(0.25, 2), 4000, {.cpu = 2, .transfer = 1, .device = 1, .train = 1});
  // Four standard errors of 4,000 draws: 4 x sqrt(0.25 x 0.75 x 4000) = 110.
  EXPECT_NEAR(static_cast<double>(log.cpu_batches), 1000, 110);
}

TEST(Factored, SamplersFeedTrainers) {
  // One sampler (2 each) for one trainer: copied 1, gathered 1, trained 4. First batch 2 + 1 + 1 + 4; then
  // the trainer's compute engine never pauses (copies go beside): 3 + 3 x 5.
  EXPECT_DOUBLE_EQ(run(factored(2, 1, 4), 3, {.transfer = 1, .device = 2, .train = 4, .gather = 1}).seconds(),
                   18);
}

TEST(Factored, TrainersStepTogether) {
  // One sampler (1 each), two trainers, four batches. Batches 0 and 1 are trained 1..5 and 2..6, averaged
  // 6..7; 2 and 3 then 7..11; averaged 11..12.
  EXPECT_DOUBLE_EQ(run(factored(3, 1, 8), 4, {.device = 1, .train = 4, .reduce = 1}).seconds(), 12);
}

TEST(Factored, ASamplerStandsIn) {
  // Sampling takes 1, training 10. Without: sampled by 6, the trainer ends at 1 + 6 x 10. With switched roles
  // the sampler, which the queue (1) holds back, trains too.
  auto plan = factored(2, 1, 1);
  const Times times{.device = 1, .train = 10};
  EXPECT_DOUBLE_EQ(run(plan, 6, times).seconds(), 61);
  plan.switch_roles = true;
  // Batch 0 is trained 1..11 and 1 fetched. The sampler joins the step with 2, 3..13. 1 is trained 13..23
  // beside 4, 15..25, and 3 25..35; 5, sampled 25..26, 35..45.
  const auto log = run(plan, 6, times);
  EXPECT_DOUBLE_EQ(log.seconds(), 45);
  EXPECT_EQ(log.trained, (std::vector<std::int64_t>{0, 2, 1, 4, 3, 5}));
}

// The last samples may be of devices that have trained their part of the step, or of one while others wait.
TEST(Factored, SwitchedRolesTrainEverythingWhateverTheTimes) {
  const test::RandomSeed seed;
  std::mt19937 random(seed);
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  for (int round = 0; round < 3000; ++round) {
    const int devices = 1 + up_to(4);
    auto plan = factored(devices, up_to(devices - 1), up_to(3));
    plan.device_buffer = up_to(2);
    plan.switch_roles = true;
    plan.order = up_to(2) == 1 ? Order::index : Order::as_ready;
    const std::int64_t batches = up_to(12);
    VirtualMachine machine(1, [&](Stage, std::int64_t) { return static_cast<double>(up_to(4)); });
    auto trained = run_epoch(plan, batches, machine).trained;
    std::sort(trained.begin(), trained.end());
    std::vector<std::int64_t> all(static_cast<std::size_t>(batches));
    std::iota(all.begin(), all.end(), 0);
    ASSERT_EQ(trained, all) << "round " << round;
  }
}

TEST(Factored, TrainsByIndexWhereItIsTold) {
  // Two samplers; batch 0 takes 5 to be sampled, the others 1. By index the trainer (2 each) waits for it:
  // 5 + 4 x 2. As they are ready it takes 1 at 1, and 0 third.
  auto plan = factored(3, 2, 4);
  auto slow_first = [](Stage stage, std::int64_t batch) {
    return stage == Stage::device_batch ? (batch == 0 ? 5.0 : 1.0) : stage == Stage::train ? 2.0 : 0.0;
  };
  VirtualMachine machine(1, slow_first);
  EXPECT_NE(run_epoch(plan, 4, machine).trained.front(), 0);
  plan.order = Order::index;
  VirtualMachine in_order(1, slow_first);
  const auto log = run_epoch(plan, 4, in_order);
  EXPECT_EQ(log.trained, (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_DOUBLE_EQ(log.seconds(), 13);
}

TEST(Factored, TheLastStepMayBeSmaller) {
  // One sampler (1 each), two trainers, three batches: 1..5 and 2..6, averaged 6..7, and 7..11, 11..12.
  EXPECT_DOUBLE_EQ(run(factored(3, 1, 8), 3, {.device = 1, .train = 4, .reduce = 1}).seconds(), 12);
}

TEST(Factored, OneDeviceTakesTurns) {
  // 3 x (2 + 1 + 4) and the first copy, which nothing covers.
  EXPECT_DOUBLE_EQ(run(factored(1, 0, 1), 3, {.transfer = 0, .device = 2, .train = 4, .gather = 1}).seconds(),
                   21);
}

TEST(SuperBatch, RefreshesForTheNextOneMeanwhile) {
  // Two batches a super-batch, one worker: group 0 is refreshed 0..5 and shipped 5..6 while batches 0 and 1
  // are prepared 0..2. Trained 6..8 and 8..10. Group 1: 6..11, 11..12; batches 2 and 3 prepared 10..12,
  // trained 12..16.
  const auto log = run(super_batches(2, 1), 4, {.device = 1, .train = 2, .prepare = 5, .ship = 1});
  EXPECT_DOUBLE_EQ(log.seconds(), 16);
  EXPECT_DOUBLE_EQ(log.blocked_on_cpu_s, 6 - 2);
}

TEST(SuperBatch, WeightsAreAtMostTwoSuperBatchesOld) {
  // An embedding is computed with the weights at its refresh's begin and used until the end of its
  // super-batch.
  const int length = 3;
  const auto plan = super_batches(length, 2);
  auto machine = machine_with(plan, {.device = 1, .train = 2, .prepare = 4, .ship = 1});
  run_epoch(plan, 20, machine);
  std::map<std::int64_t, double> refreshed;
  std::vector<double> updates;
  for (const auto& span : machine.spans()) {
    if (span.stage == Stage::group_prepare) {
      const auto [at, is_new] = refreshed.emplace(span.batch, span.begin_s);
      at->second = std::min(at->second, span.begin_s);
    } else if (span.stage == Stage::train) {
      updates.push_back(span.end_s);
    }
  }
  for (std::int64_t batch = 0; batch < 20; ++batch) {
    const auto known = std::count_if(updates.begin(), updates.end(),
                                     [&](double end_s) { return end_s <= refreshed.at(batch / length); });
    EXPECT_LE(batch - known, 2 * length - 1) << "update " << batch;
  }
}

/// How many batches all devices together may hold.
int device_room_of(const Plan& plan) {
  switch (plan.schedule) {
    case Schedule::super_batch:
      return plan.super_batch;
    case Schedule::mixed:
      return plan.device_buffer + 3;  // the head finds room, and two trainings may be queued behind copies
    default:
      return (plan.device_buffer + 1) * plan.devices;
  }
}

/// What every policy owes, checked from the outside on one run.
void check_contract(const Plan& plan, std::int64_t batches, const EpochLog& log, VirtualMachine& machine) {
  // Further passes over a macro-batch add to the batches.
  const bool repeats = plan.schedule == Schedule::macro_batch && plan.macro.passes > 1;
  std::vector<std::int64_t> all(repeats ? log.trained.size() : static_cast<std::size_t>(batches));
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
        if (plan.schedule != Schedule::factored) {  // samples go to the host
          device_room.emplace_back(span.begin_s, 1);
        }
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
  EXPECT_LE(peak(host_room), plan.workers + plan.cpu_buffer * plan.devices);
  EXPECT_LE(peak(device_room), device_room_of(plan));
}

TEST(Policies, ContractOnRandomCases) {
  const test::RandomSeed seed(20261121);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> time(0.1, 10);
  for (int round = 0; round < 400; ++round) {
    const int workers = 1 + static_cast<int>(random() % 6);
    const int cpu_buffer = 1 + static_cast<int>(random() % 6);
    const int device_buffer = 1 + static_cast<int>(random() % 10);
    const int look_ahead = static_cast<int>(random() % 13);
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
                          overlapping,
                          beside_training(device_buffer),
                          on_devices(pipelined(3 * workers, Order::index, cpu_buffer, device_buffer), 3),
                          factored(3, 1, cpu_buffer),
                          factored(1, 0, cpu_buffer),
                          super_batches(device_buffer, workers),
                          macro_batches(Route::cpu, 7, 2, 2),
                          macro_batches(Route::device, 7, 2, 1),
                          mixed(0.4, workers)};
    for (const auto& plan : plans) {
      std::map<std::pair<Stage, std::int64_t>, double> drawn;
      for (const bool passes : {false, true}) {
        VirtualMachine machine(std::max(1, plan.workers), [&](Stage stage, std::int64_t batch) {
          return drawn.emplace(std::pair(stage, batch), time(random)).first->second;
        });
        if (passes) {
          machine.let_time_pass([&] { return time(random) / 8; });
        }
        SCOPED_TRACE("round " + std::to_string(round) + ", " + std::string(base::name_of(plan.schedule)) +
                     (passes ? ", time passes" : ""));
        const auto log = run_epoch(plan, batches, machine);
        check_contract(plan, batches, log, machine);
      }
    }
  }
}

}  // namespace
}  // namespace gnomon::schedule
