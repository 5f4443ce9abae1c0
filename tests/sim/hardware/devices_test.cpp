#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "sim/hardware/contention.h"
#include "sim/simulator.h"
#include "tests/fixtures/profiles.h"

// What several devices, host memory and a disk share, by hand. The sums are above each case.

namespace gnomon::sim {
namespace {

using schedule::Machine;
using schedule::Stage;
using schedule::Ticket;

struct Begun {
  Stage stage;
  int device = 0;
};

/// Starts these stages at date 0, one a batch, and expects them to end so.
void expect_ends(const MachineModel& model, const std::vector<Begun>& stages,
                 const std::vector<double>& expected) {
  ASSERT_EQ(stages.size(), expected.size());
  Simulator().with_machine(model, std::ssize(stages), [&](Machine& machine) {
    std::vector<Ticket> tickets;
    for (const Begun& begun : stages) {
      tickets.push_back(machine.start_on(begun.device, begun.stage, std::ssize(tickets), {}));
    }
    for (std::size_t i = 0; i < tickets.size(); ++i) {
      machine.wait_any(std::vector{tickets[i]});
      EXPECT_NEAR(machine.span(tickets[i]).end_s, expected[i], 1e-9 * expected[i]) << "stage " << i;
    }
  });
}

TEST(Switches, PairDevicesOnOneWayToTheHost) {
  // Devices 0 and 1 share a switch, so both copies (2 s) end at 4; device 2 has the next one to itself.
  const MachineModel model{.costs = {.transfer_s = 2}, .devices = 4, .devices_per_link = 2};
  expect_ends(model, {{Stage::transfer, 0}, {Stage::transfer, 1}, {Stage::transfer, 2}}, {4, 4, 2});
}

TEST(Cliques, ShareTheLinksBetweenTheirDevices) {
  // Preparing: 1 s over the link to the host, each device its own; 2 s from linked devices, which 0 and 1
  // share, 4 s; 1 s alone. Device 2 is of the next clique: 1 + 2 + 1.
  const MachineModel model{.costs = {.device_batch_s = 4, .device_batch_link_s = 1, .device_batch_peer_s = 2},
                           .devices = 3,
                           .devices_per_clique = 2};
  expect_ends(model, {{Stage::device_batch, 0}, {Stage::device_batch, 1}, {Stage::device_batch, 2}},
              {6, 6, 4});
}

TEST(Devices, TrainBesideEachOther) {
  const MachineModel model{.costs = {.train_s = 3}, .devices = 2};
  expect_ends(model, {{Stage::train, 0}, {Stage::train, 1}, {Stage::train, 0}}, {3, 3, 6});
}

TEST(Devices, OnTheCoresSlowEachOtherDown) {
  // Alone 3; beside another one 1.5 times as long. Of a GPU nothing is slowed.
  MachineModel model{.cores = 4, .costs = {.train_s = 3}, .devices = 2};
  model.contention.train_beside_train = 1.5;
  expect_ends(model, {{Stage::train, 0}, {Stage::train, 1}}, {3, 3});
  model.emulated_device = true;
  expect_ends(model, {{Stage::train, 0}, {Stage::train, 1}}, {4.5, 4.5});
  expect_ends(model, {{Stage::train, 0}}, {3});
}

TEST(Devices, OnTheCoresAverageThere) {
  // 1 s on a core and 2 s on the links. One core for it and a training of 3 s: 2 s together, then 2 alone.
  const MachineModel model{.cores = 1,
                           .emulated_device = true,
                           .costs = {.train_s = 3, .all_reduce_s = 3, .all_reduce_cores_s = 1},
                           .devices = 2};
  expect_ends(model, {{Stage::all_reduce, 0}, {Stage::train, 1}}, {4, 4});
}

TEST(Disk, IsSharedByMiniBatchesWhoseReadsFillItsQueue) {
  // Reads of 2 s each take twice or three times as long together, then 1 s on a core each.
  const MachineModel model{
      .cores = 3, .workers = 3, .costs = {.cpu_batch_s = 1, .cpu_batch_disk_s = 2}, .disk_depth = 2};
  expect_ends(model, {{Stage::cpu_batch}}, {3});
  expect_ends(model, {{Stage::cpu_batch}, {Stage::cpu_batch}}, {5, 5});
  expect_ends(model, {{Stage::cpu_batch}, {Stage::cpu_batch}, {Stage::cpu_batch}}, {7, 7, 7});
}

TEST(Disk, IsSharedByPartsAndMiniBatches) {
  // Both read for 2 s with a full queue, and end together after 4 s; the batch goes on for 1 s on a core.
  const MachineModel model{.cores = 1,
                           .workers = 1,
                           .costs = {.cpu_batch_s = 1, .cpu_batch_disk_s = 2, .group_read_s = 2},
                           .disk_depth = 2};
  expect_ends(model, {{Stage::group_read}, {Stage::cpu_batch}}, {4, 5});
}

TEST(Groups, EveryWorkerDoesItsShare) {
  // 6 s on three workers of as many cores.
  const MachineModel model{.cores = 3, .workers = 3, .costs = {.group_prepare_s = 6}};
  expect_ends(model, {{Stage::group_prepare}, {Stage::group_prepare}, {Stage::group_prepare}}, {2, 2, 2});
}

TEST(HostMemory, IsDividedFairly) {
  // Two users of 0.3 each and one of 0.5: the small ones get theirs, 0.4 are left: 0.5 / 0.4.
  const std::array<double, num_kinds> some{0.3, 0.5, 0, 0};
  EXPECT_DOUBLE_EQ(memory_slowdown(some, {2, 1, 0, 0}, 0.3), 1);
  EXPECT_DOUBLE_EQ(memory_slowdown(some, {2, 1, 0, 0}, 0.5), 1.25);
  // Two of 0.6 and one of 0.2: that has its 0.2, the others 0.4 each.
  const std::array<double, num_kinds> more{0.6, 0, 0.2, 0};
  EXPECT_DOUBLE_EQ(memory_slowdown(more, {2, 0, 1, 0}, 0.6), 1.5);
  EXPECT_DOUBLE_EQ(memory_slowdown(more, {2, 0, 1, 0}, 0.2), 1);
  // As long as there is enough for all, or for one that asks for none.
  EXPECT_DOUBLE_EQ(memory_slowdown(more, {1, 0, 1, 0}, 0.6), 1);
  EXPECT_DOUBLE_EQ(memory_slowdown(more, {9, 0, 1, 0}, 0), 1);
}

TEST(HostMemory, SlowsWhatReadsIt) {
  // Two workers ask for 0.75 each and get a half: 2 * 1.5. A copy that asks for 0.25 has that beside one
  // worker; beside two it has a third at least: it is never slower.
  const MachineModel model{.cores = 2,
                           .workers = 2,
                           .costs = {.cpu_batch_s = 2, .transfer_s = 1},
                           .memory_shares = {0.75, 0.25, 0, 0}};
  expect_ends(model, {{Stage::cpu_batch}, {Stage::transfer}}, {2, 1});
  expect_ends(model, {{Stage::cpu_batch}, {Stage::cpu_batch}}, {3, 3});
  // With the copy each worker has 0.375 until it ends at 1: 0.5 done. Then 0.5: 1.5 * 1.5 more.
  expect_ends(model, {{Stage::cpu_batch}, {Stage::cpu_batch}, {Stage::transfer}}, {3.25, 3.25, 1});
}

/// Of a GPU that prepares beside training: preparing takes 2 s and training 4 s, each alone on all of it. On
/// measured_prepare_share, preparing takes 1.5 times as long, and then 1.1 times as long beside training,
/// which takes 1.2 times as long.
MachineModel shared_gpu(double share, plan::Home data = plan::Home::host) {
  auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, 10, {0, 0, 2, 4});
  profile.machine.device.link_saturation_share = 0.05;
  profile.machine.contention.train_beside_device_batch = 1.2;
  profile.machine.contention.train_beside_resident_batch = 1.04;
  profile.machine.contention.device_batch_beside_train = 1.1;
  profile.workload.device_batch_link_s = 0.5;
  profile.workload.parts.prepare_share_ratio = 1.5;
  plan::Plan plan;
  plan.name = "beside training";
  plan.schedule = plan::Schedule::pipelined;
  plan.route = plan::Route::device;
  plan.workers = 1;
  plan.prepare_share = share;
  plan.topology = plan.features = data;
  return machine_model(profile, plan, false, 0);
}

/// The date at which a training ends that begins together with a preparation.
double trained_at_s(const MachineModel& model) {
  double end_s = 0;
  Simulator().with_machine(model, 2, [&](Machine& machine) {
    machine.start_on(0, Stage::device_batch, 0, {});
    const Ticket training = machine.start_on(0, Stage::train, 1, {});
    machine.wait_any(std::vector{training});
    end_s = machine.span(training).end_s;
  });
  return end_s;
}

TEST(SharesOfAGpu, GiveAtTheMeasuredShareWhatWasMeasured) {
  // Preparing takes 2 * 1.5 * 1.1 = 3.3 s. Training does 3.3 / 1.2 = 2.75 s of its 4 s by then.
  const auto model = shared_gpu(profiles::measured_prepare_share);
  expect_ends(model, {{Stage::device_batch}, {Stage::train}}, {3.3, 3.3 + 1.25});
  expect_ends(model, {{Stage::device_batch}}, {3});
  expect_ends(model, {{Stage::train}}, {4});
}

TEST(SharesOfAGpu, TakeInProportionAtOthers) {
  // A quarter has 1/p - 1 = 3 instead of 1: 2 * (1 + 0.5 * 3) = 5 s, 5.5 s beside training, whose slowdown is
  // half of 0.2: 4 * 1.1 = 4.4 s, in which preparing does 4.4 / 1.1 = 4 s.
  expect_ends(shared_gpu(0.25), {{Stage::device_batch}, {Stage::train}}, {4.4 + 1, 4.4});
}

TEST(SharesOfAGpu, SlowTrainingLessIfTheyReadNothing) {
  const auto slowdown = [](double share, plan::Home data) {
    return shared_gpu(share, data).contention.train_beside_device_batch.value();
  };
  EXPECT_DOUBLE_EQ(slowdown(profiles::measured_prepare_share, plan::Home::host), 1.2);
  EXPECT_DOUBLE_EQ(slowdown(profiles::measured_prepare_share, plan::Home::device), 1.04);
  EXPECT_DOUBLE_EQ(slowdown(profiles::measured_prepare_share / 2, plan::Home::device), 1.02);
}

TEST(SharesOfAGpu, LeaveMoreToTrainingTheSmallerTheyAre) {
  double before_s = 4;  // alone
  double prepared_s = std::numeric_limits<double>::infinity();
  for (const double share : {0.05, 0.1, 0.2, 0.4, 0.5}) {
    auto model = shared_gpu(share);
    EXPECT_LT(model.costs.device_batch_s, prepared_s) << share;
    prepared_s = model.costs.device_batch_s;
    model.costs.device_batch_s = 100;  // beside all of the training
    EXPECT_GT(trained_at_s(model), before_s) << share;
    before_s = trained_at_s(model);
  }
}

TEST(SharesOfAGpu, DoNothingToTrainingWhereNothingWasMeasured) {
  const MachineModel model{.costs = {.device_batch_s = 2, .train_s = 4}, .prepare_share = 0.2};
  expect_ends(model, {{Stage::device_batch}, {Stage::train}}, {2, 4});
  MachineModel faster = model;
  faster.contention.train_beside_device_batch = 0.6;
  expect_ends(faster, {{Stage::device_batch}, {Stage::train}}, {2, 4});
}

TEST(Contention, StaysOnItsDeviceButForCpuWork) {
  // A copy on device 1 does not slow the training of device 0; a worker slows both.
  MachineModel model{.workers = 1, .costs = {.cpu_batch_s = 9, .transfer_s = 1, .train_s = 4}, .devices = 2};
  model.contention.train_beside_transfer = 3;
  expect_ends(model, {{Stage::train, 0}, {Stage::transfer, 1}}, {4, 1});
  model.contention.train_beside_cpu_batch = 1.5;
  expect_ends(model, {{Stage::train, 0}, {Stage::train, 1}, {Stage::cpu_batch}}, {6, 6, 9});
}

// Five cores: beside one worker a copy takes 1.2 times as long, beside four 1.5 times, linear in between.
TEST(Contention, ByManyWorkersIsWhatWasMeasuredTogether) {
  profiles::Contention given;
  given.transfer_beside_cpu_batch = 1.2;
  const auto beside = [&](int workers) {
    return contention_slowdown(given, Kind::copy, KindCounts{workers, 0, 0, 0}, 5);
  };
  EXPECT_DOUBLE_EQ(beside(4), 1.8) << "each worker's, where nothing else was measured";
  given.transfer_beside_workers = 1.5;
  EXPECT_DOUBLE_EQ(beside(0), 1);
  EXPECT_DOUBLE_EQ(beside(1), 1.2);
  EXPECT_DOUBLE_EQ(beside(2), 1.3);
  EXPECT_DOUBLE_EQ(beside(4), 1.5);
  EXPECT_DOUBLE_EQ(beside(6), 1.5);
  given.transfer_beside_workers = 1.1;  // one worker was measured to slow it more
  EXPECT_DOUBLE_EQ(beside(1), 1.1);
  EXPECT_DOUBLE_EQ(beside(4), 1.1);
  given.train_beside_workers = 1.3;
  EXPECT_DOUBLE_EQ(contention_slowdown(given, Kind::train, KindCounts{4, 0, 0, 0}, 5), 1.3);
  EXPECT_DOUBLE_EQ(contention_slowdown(given, Kind::cpu, KindCounts{4, 0, 0, 0}, 5), 1);
  given.workers_beside_device = 1.6;
  EXPECT_DOUBLE_EQ(contention_slowdown(given, Kind::cpu, KindCounts{4, 0, 0, 0}, 5), 1) << "no device works";
  EXPECT_DOUBLE_EQ(contention_slowdown(given, Kind::cpu, KindCounts{0, 0, 0, 1}, 5), 1) << "one worker";
  EXPECT_DOUBLE_EQ(contention_slowdown(given, Kind::cpu, KindCounts{1, 1, 0, 1}, 5), 1.2);
  EXPECT_DOUBLE_EQ(contention_slowdown(given, Kind::cpu, KindCounts{3, 0, 0, 1}, 5), 1.6);
}

}  // namespace
}  // namespace gnomon::sim
