#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>

#include "sim/simulator.h"

// Machines on which something is shared, driven by hand. The sums are above each case.

namespace gnomon::sim {
namespace {

using schedule::Machine;
using schedule::Stage;
using schedule::Ticket;

void wait(Machine& machine, Ticket ticket) { machine.wait_any(std::vector{ticket}); }

/// Starts these stages at date 0, one a batch, and returns when each ends.
std::vector<double> ends(const MachineModel& model, const std::vector<Stage>& stages) {
  std::vector<double> ends_s;
  Simulator().with_machine(model, std::ssize(stages), [&](Machine& machine) {
    std::vector<Ticket> tickets;
    for (const Stage stage : stages) {
      tickets.push_back(machine.start(stage, std::ssize(tickets), {}));
    }
    for (const Ticket ticket : tickets) {
      wait(machine, ticket);
      ends_s.push_back(machine.span(ticket).end_s);
    }
  });
  return ends_s;
}

void expect_ends(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-9 * expected[i]) << "stage " << i;
  }
}

TEST(SharedLink, CopyAndReadsOfDeviceBatchingShareIt) {
  // Both use the link from 0. The copy needs 2 s of it, the reads 3 s. At half speed each until the copy ends
  // at 4; by then the reads had 2 s, their last takes 1 s: 5. Then 2 s on the device alone: 7.
  const MachineModel model{.costs = {.transfer_s = 2, .device_batch_s = 5, .device_batch_link_s = 3}};
  expect_ends(ends(model, {Stage::device_batch, Stage::transfer}), {7, 4});
}

TEST(SharedLink, TheRestOfDeviceBatchingLeavesItToTheCopies) {
  // Reads and copy share until both had 1 s: 2. The first copy's last 3 s pass at full speed: 5; the second
  // copy: 9. Device preparation ends at 2 + 4.
  const MachineModel model{.costs = {.transfer_s = 4, .device_batch_s = 5, .device_batch_link_s = 1}};
  expect_ends(ends(model, {Stage::device_batch, Stage::transfer, Stage::transfer}), {6, 5, 9});
}

TEST(SharedLink, IsNotUsedByTraining) {
  const MachineModel model{
      .costs = {.transfer_s = 4, .device_batch_s = 5, .device_batch_link_s = 1, .train_s = 3}};
  expect_ends(ends(model, {Stage::train, Stage::transfer}), {3, 4});
}

TEST(SharedCores, WorkersBeyondTheCoresShareThem) {
  // Three workers on two cores: each runs at 2/3 of its speed: 2 * 3/2.
  const MachineModel model{.cores = 2, .workers = 3, .costs = {.cpu_batch_s = 2}};
  expect_ends(ends(model, {Stage::cpu_batch, Stage::cpu_batch, Stage::cpu_batch}), {3, 3, 3});
}

TEST(SharedCores, ThreadsOfAHostDeviceCountSeverally) {
  // Four cores for two workers and a training of three threads: every thread has 4/5 of a core. Training
  // (4 s) would end at 5, the workers (2 s) at 2.5. From then on training has its three cores: at 2.5 it had
  // 2 s, so it ends at 4.5.
  const MachineModel model{.cores = 4,
                           .workers = 2,
                           .host_device = true,
                           .device_threads = 3,
                           .costs = {.cpu_batch_s = 2, .train_s = 4}};
  expect_ends(ends(model, {Stage::train, Stage::cpu_batch, Stage::cpu_batch}), {4.5, 2.5, 2.5});
}

TEST(SharedCores, CopiesOfAHostDeviceAreAThread) {
  // One core for a worker, a copy and a training: thirds. The copy (1 s) ends at 3; then halves: training
  // (2 s) has had 1 s and ends at 5; the worker (3 s) has had 2 s by then: 6.
  const MachineModel model{.cores = 1,
                           .workers = 1,
                           .host_device = true,
                           .device_threads = 1,
                           .costs = {.cpu_batch_s = 3, .transfer_s = 1, .train_s = 2}};
  expect_ends(ends(model, {Stage::cpu_batch, Stage::transfer, Stage::train}), {6, 3, 5});
}

TEST(SharedCores, EnoughOfThemAreNotShared) {
  const MachineModel model{.cores = 6,
                           .workers = 2,
                           .host_device = true,
                           .device_threads = 3,
                           .costs = {.cpu_batch_s = 2, .transfer_s = 1, .train_s = 4}};
  expect_ends(ends(model, {Stage::cpu_batch, Stage::cpu_batch, Stage::transfer, Stage::train}), {2, 2, 1, 4});
}

TEST(SharedCores, ADeviceWithMoreThreadsThanCoresIsSlower) {
  // Three threads on two cores: 2 * 3/2.
  const MachineModel model{
      .cores = 2, .workers = 1, .host_device = true, .device_threads = 3, .costs = {.train_s = 2}};
  expect_ends(ends(model, {Stage::train}), {3});
}

TEST(Contention, SlowsForAsLongAsTheNeighbourRuns) {
  // Beside training the worker needs 1.25 times as long. Training (alone 5, beside one worker 5 * 1.5 = 7.5):
  // by the worker's pace it is done with 6 / 1.25 = 4.8 s at 6. Training has 6 / 1.5 = 4 s behind it at 6 and
  // its last 1 s alone: 7.
  MachineModel model{.cores = 2, .workers = 1, .costs = {.cpu_batch_s = 4.8, .train_s = 5}};
  model.contention.cpu_batch_beside_train = 1.25;
  model.contention.train_beside_cpu_batch = 1.5;
  expect_ends(ends(model, {Stage::cpu_batch, Stage::train}), {6, 7});
}

TEST(Contention, AddsUpOverNeighbours) {
  // Training beside three workers: 1 + 3 * 0.5 + 0.5 (the copy) = 3. Copy ends at 1: training had 1/3 s.
  // Workers end at 2: 1/3 + 1/2.5 s. Left 3 - 11/15 = 34/15: ends at 2 + 34/15.
  MachineModel model{.cores = 4, .workers = 3, .costs = {.cpu_batch_s = 2, .transfer_s = 1, .train_s = 3}};
  model.contention.train_beside_cpu_batch = 1.5;
  model.contention.train_beside_transfer = 1.5;
  expect_ends(
      ends(model, {Stage::train, Stage::transfer, Stage::cpu_batch, Stage::cpu_batch, Stage::cpu_batch}),
      {2 + 34.0 / 15, 1, 2, 2, 2});
}

TEST(Contention, HoldsOnASharedLinkToo) {
  // Reads (2 s, twice as long beside the worker) share the link with a copy (1 s). Until 2 both have half of
  // it: the copy ends at 2, the reads got 1 s of the link, 0.5 s of their own. At full bandwidth, still
  // beside the worker (which ends at 4), they take 2 s for the next 1 s of their own; the last 0.5 s
  // alone: 4.5.
  MachineModel model{
      .cores = 2,
      .workers = 1,
      .costs = {.cpu_batch_s = 4, .transfer_s = 1, .device_batch_s = 2, .device_batch_link_s = 2}};
  model.contention.device_batch_beside_cpu_batch = 2;
  expect_ends(ends(model, {Stage::device_batch, Stage::transfer, Stage::cpu_batch}), {4.5, 2, 4});
}

TEST(Contention, HoldsOnSharedCoresToo) {
  // One core for a worker and a training of one thread: halves. The worker needs twice its 2 s beside
  // training. At 4 training (2 s) ends; the worker had 2 s of the core, 1 s of its own; the last 1 s
  // alone: 5.
  MachineModel model{.cores = 1,
                     .workers = 1,
                     .host_device = true,
                     .device_threads = 1,
                     .costs = {.cpu_batch_s = 2, .train_s = 2}};
  model.contention.cpu_batch_beside_train = 2;
  expect_ends(ends(model, {Stage::cpu_batch, Stage::train}), {5, 4});
}

TEST(Contention, ThreadsOfASlowedDeviceKeepTheirCores) {
  // Five threads on four cores, 4/5 of a core each; training takes three times as long beside each worker,
  // so 1 + 2 * 2 = 5 times beside both. Workers (2 s) end at 2.5, when training's threads had 2 s each, 0.4 s
  // of their own; the last 3.6 s pass alone: 6.1.
  MachineModel model{.cores = 4,
                     .workers = 2,
                     .host_device = true,
                     .device_threads = 3,
                     .costs = {.cpu_batch_s = 2, .train_s = 4}};
  model.contention.train_beside_cpu_batch = 3;
  expect_ends(ends(model, {Stage::train, Stage::cpu_batch, Stage::cpu_batch}), {6.1, 2.5, 2.5});
}

TEST(Contention, ATeamThatSharesCoresWaitsForItsSlowest) {
  // Three threads on two cores: 2/3 of a core each. The worker gains by a team that waits, 2 * 1.5 * 0.8
  // = 2.4; training goes on at 1 / (1.5 * 1.5), so at 2.4 it had 16/15 s and ends 4 - 16/15 s later.
  MachineModel model{.cores = 2,
                     .workers = 1,
                     .host_device = true,
                     .device_threads = 2,
                     .costs = {.cpu_batch_s = 2, .device_batch_s = 4, .train_s = 4}};
  model.contention.crowded_team = 1.5;
  model.contention.beside_crowded_team = 0.8;
  expect_ends(ends(model, {Stage::train, Stage::cpu_batch}), {6.4 - 16.0 / 15, 2.4});
  expect_ends(ends(model, {Stage::device_batch, Stage::cpu_batch}), {4, 2});  // of one thread
  model.prepare_threads = 2;
  expect_ends(ends(model, {Stage::device_batch, Stage::cpu_batch}), {6.4 - 16.0 / 15, 2.4});
  model.cores = 3;
  expect_ends(ends(model, {Stage::train, Stage::cpu_batch}), {4, 2});
}

TEST(Contention, SingleThreadsShareCoresFairly) {
  // At 3 the workers are done and training has had 2 of its 4 s.
  MachineModel model{.cores = 2,
                     .workers = 2,
                     .host_device = true,
                     .device_threads = 1,
                     .costs = {.cpu_batch_s = 2, .train_s = 4}};
  model.contention.crowded_team = 1.5;
  model.contention.beside_crowded_team = 0.8;
  expect_ends(ends(model, {Stage::train, Stage::cpu_batch, Stage::cpu_batch}), {5, 3, 3});
}

// A neighbour that was measured to help is none, and the cores that others leave make nothing faster than
// alone.
TEST(Contention, MakesNothingFasterThanAlone) {
  MachineModel model{.cores = 2,
                     .workers = 1,
                     .host_device = true,
                     .device_threads = 2,
                     .costs = {.cpu_batch_s = 2, .train_s = 4}};
  model.contention.crowded_team = 0.53;
  model.contention.beside_crowded_team = 0.5;
  // Three threads on two cores: 1.5 times the factors would be 0.8 and 0.75.
  expect_ends(ends(model, {Stage::train, Stage::cpu_batch}), {4, 2});
  model.cores = 3;
  model.contention.train_beside_cpu_batch = 0.5;
  model.contention.cpu_batch_beside_train = 0.6;
  expect_ends(ends(model, {Stage::train, Stage::cpu_batch}), {4, 2});
}

// While a worker waits for the disk, the team has the cores to itself.
TEST(Contention, OnlyWhatRunsOnTheCoresCrowdsThem) {
  MachineModel model{.cores = 2,
                     .workers = 1,
                     .host_device = true,
                     .device_threads = 2,
                     .costs = {.cpu_batch_s = 2, .train_s = 4, .cpu_batch_disk_s = 4},
                     .disk_depth = 1};
  model.contention.crowded_team = 2;
  model.contention.beside_crowded_team = 1;
  expect_ends(ends(model, {Stage::train, Stage::cpu_batch}), {4, 6});
}

TEST(SimulatedMachine, HandsOutThePolicysExceptions) {
  Simulator simulator;
  const MachineModel model{.costs = {.train_s = 1}};
  const auto fails = [&] {
    simulator.with_machine(model, 1, [](Machine& machine) {
      machine.start(Stage::train, 0, {});
      throw std::runtime_error("from the policy");
    });
  };
  EXPECT_THROW(fails(), std::runtime_error);
  expect_ends(ends(model, {Stage::train, Stage::train}), {1, 2});  // and still works
}

TEST(SimulatedMachine, NoticesAPolicyThatWaitsForEver) {
  const MachineModel model{.costs = {.train_s = 1}};
  const auto waits = [&] {
    Simulator().with_machine(model, 1, [](Machine& machine) {
      const auto blocked = machine.start(Stage::train, 0, std::vector{Ticket{0}});  // after itself
      wait(machine, blocked);
    });
  };
  EXPECT_THROW(waits(), std::logic_error);
}

}  // namespace
}  // namespace gnomon::sim
