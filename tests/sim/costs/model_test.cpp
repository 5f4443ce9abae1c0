#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "sim/predict.h"
#include "sim/quick.h"
#include "tests/fixtures/profiles.h"

namespace gnomon::sim {
namespace {

profiles::Profile model_profile(profiles::DeviceKind device) {
  auto profile = test::profile_of(device, 8, 400, {0.04, 0.002, 0.012, 0.02});
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 1e9;
  auto& workload = profile.workload;
  workload.batch_bytes = 2e6;
  workload.cpu_batch.deviation_s = 0.01;
  workload.device_batch.deviation_s = 0.003;
  workload.train.deviation_s = 0.001;
  workload.worker_efficiency = {{1, 1}, {4, 0.8}};
  workload.train_speedup = {{1, 1}, {4, 2.5}};
  workload.device_batch_speedup = {{1, 1}, {4, 3}};
  if (device == profiles::DeviceKind::cuda) {
    workload.device_batch_link_s = 0.009;
  }
  return profile;
}

plan::Plan claim_ahead_plan(int workers, int device_threads) {
  plan::Plan plan;
  plan.name = "claim";
  plan.schedule = plan::Schedule::claim_ahead;
  plan.route = plan::Route::both;
  plan.workers = workers;
  plan.device_threads = device_threads;
  return plan;
}

TEST(MachineModel, AppliesEfficiencyAndSpeedUps) {
  const auto model =
      machine_model(model_profile(profiles::DeviceKind::host), claim_ahead_plan(4, 4), false, 0);
  EXPECT_EQ(model.cores, 8);
  EXPECT_EQ(model.workers, 4);
  EXPECT_TRUE(model.host_device);
  EXPECT_EQ(model.device_threads, 4);
  EXPECT_EQ(model.prepare_threads, 3) << "so many times as fast";
  EXPECT_DOUBLE_EQ(model.costs.cpu_batch_s, 0.04 / 0.8);
  EXPECT_DOUBLE_EQ(model.costs.transfer_s, 0.002);
  EXPECT_DOUBLE_EQ(model.costs.device_batch_s, 0.012 / 3);
  EXPECT_DOUBLE_EQ(model.costs.train_s, 0.02 / 2.5);
  EXPECT_FALSE(model.costs_of);
}

TEST(MachineModel, ThreadsOfAWorkerShareItsBatches) {
  auto profile = model_profile(profiles::DeviceKind::host);
  profile.workload.cpu_batch_speedup = {{1, 1}, {2, 1.6}};
  auto plan = claim_ahead_plan(2, 4);
  plan.worker_threads = 2;
  const auto model = machine_model(profile, plan, false, 0);
  EXPECT_EQ(model.worker_threads, 2);
  EXPECT_DOUBLE_EQ(model.costs.cpu_batch_s, 0.04 / (0.8 * 1.6));  // four threads are at work in all
}

TEST(Simulator, SharedBatchesKeepTheirCoresBusy) {
  // One core trains, the worker's threads have the other two: a batch of 0.02 s every 0.02 s. With two cores
  // in all, 0.04 + 0.02 core-seconds a batch take 0.03 s.
  auto profile = model_profile(profiles::DeviceKind::host);
  profile.workload.cpu_batch = {.mean_s = 0.04};
  profile.workload.train = {.mean_s = 0.02};
  profile.workload.transfer = {.mean_s = 1e-9};
  profile.workload.worker_efficiency = {};
  profile.workload.cpu_batch_speedup = {{1, 1}, {2, 2}};
  plan::Plan plan;
  plan.name = "shared";
  plan.schedule = plan::Schedule::pipelined;
  plan.route = plan::Route::cpu;
  plan.workers = 1;
  plan.worker_threads = 2;
  plan.device_threads = 1;
  for (const auto& [cores, between_s] : {std::pair(3, 0.02), std::pair(2, 0.03)}) {
    profile.machine.cpu.cores = cores;
    const auto model = machine_model(profile, plan, false, 0);
    const auto prediction = run_quickly(plan, model, 400);
    EXPECT_NEAR(prediction.epoch_s, 400 * between_s + 0.02, 0.05) << cores << " cores";
    EXPECT_LE(prediction.lower_bound_s, prediction.epoch_s);
    EXPECT_GT(prediction.lower_bound_s, 0.95 * prediction.epoch_s) << cores << " cores";
  }
}

TEST(MachineModel, KeepsTheLinkPartOfAGpu) {
  const auto model =
      machine_model(model_profile(profiles::DeviceKind::cuda), claim_ahead_plan(1, 1), false, 0);
  EXPECT_FALSE(model.host_device);
  EXPECT_DOUBLE_EQ(model.costs.device_batch_link_s, 0.009);
}

TEST(MachineModel, AddsHandoverCopies) {
  auto plan = claim_ahead_plan(1, 1);
  plan.handover_copies = 2;
  // 2 copies x 2e6 bytes / 1e9 bytes per second
  const auto profile = model_profile(profiles::DeviceKind::host);
  EXPECT_DOUBLE_EQ(machine_model(profile, plan, false, 0).costs.cpu_batch_s, 0.04 + 0.004);
  EXPECT_DOUBLE_EQ(machine_model(profile, plan, true, 0).costs.cpu_batch_s, 0.04 + 0.004);
}

TEST(MachineModel, WorkersShareTheMemoryOfHandoverCopies) {
  auto plan = claim_ahead_plan(2, 1);
  plan.handover_copies = 1;
  auto profile = model_profile(profiles::DeviceKind::host);
  profile.workload.worker_efficiency = {{1, 1}, {2, 0.5}};
  const double without = [&] {
    auto same = plan;
    same.handover_copies = 0;
    return machine_model(profile, same, false, 0).costs.cpu_batch_s;
  }();
  EXPECT_DOUBLE_EQ(machine_model(profile, plan, false, 0).costs.cpu_batch_s, without + 0.002 / 0.5);
}

TEST(MachineModel, NeedsABandwidthForHandoverCopies) {
  auto plan = claim_ahead_plan(1, 1);
  plan.handover_copies = 1;
  auto profile = model_profile(profiles::DeviceKind::host);
  profile.machine.cpu.copy_bandwidth_bytes_per_s.reset();
  EXPECT_THROW(machine_model(profile, plan, false, 0), base::InputError);
}

TEST(Spread, KeepsTheMeanAndHasTheMeasuredDeviation) {
  auto profile = model_profile(profiles::DeviceKind::cuda);
  profile.workload.batches = 20000;
  const auto model = machine_model(profile, claim_ahead_plan(1, 1), true, 7);
  double sum = 0;
  double squares = 0;
  for (std::int64_t batch = 0; batch < profile.workload.batches; ++batch) {
    const auto costs = model.costs_of(batch);
    EXPECT_GT(costs.cpu_batch_s, 0);
    EXPECT_DOUBLE_EQ(costs.transfer_s, 0.002);  // measured without any
    EXPECT_NEAR(costs.device_batch_link_s, costs.device_batch_s * 9 / 12, 1e-15);
    sum += costs.cpu_batch_s;
    squares += costs.cpu_batch_s * costs.cpu_batch_s;
  }
  const double mean = sum / 20000;
  EXPECT_NEAR(mean, 0.04, 1e-12);
  // The deviation of 20,000 draws: within four of its standard errors, about 1 % each for this shape.
  EXPECT_NEAR(std::sqrt(squares / 20000 - mean * mean), 0.01, 0.0004);
}

TEST(Spread, IsTheSameForEveryPlanAndAnotherForAnotherSeed) {
  const auto profile = model_profile(profiles::DeviceKind::host);
  const auto one = machine_model(profile, claim_ahead_plan(1, 1), true, 3);
  const auto four = machine_model(profile, claim_ahead_plan(4, 4), true, 3);
  const auto other = machine_model(profile, claim_ahead_plan(1, 1), true, 4);
  for (std::int64_t batch : {0, 1, 17, 399}) {
    EXPECT_NEAR(one.costs_of(batch).cpu_batch_s, four.costs_of(batch).cpu_batch_s * 0.8, 1e-12);
    EXPECT_NEAR(one.costs_of(batch).train_s, four.costs_of(batch).train_s * 2.5, 1e-12);
    EXPECT_NE(one.costs_of(batch).cpu_batch_s, other.costs_of(batch).cpu_batch_s);
  }
}

TEST(Predict, DoesNotDependOnWhatRanBefore) {
  Simulator simulator;
  for (const auto device : {profiles::DeviceKind::host, profiles::DeviceKind::cuda}) {
    auto profile = model_profile(device);
    profile.machine.cpu.cores = 4;
    profile.machine.contention.train_beside_cpu_batch = 1.1;
    const auto plan = claim_ahead_plan(3, device == profiles::DeviceKind::host ? 3 : 1);
    const auto first = predict(simulator, profile, plan, true);
    auto other = profile;
    other.workload.batches = 37;
    predict(simulator, other, claim_ahead_plan(1, 1));
    const auto again = predict(simulator, profile, plan, true);
    EXPECT_EQ(first.epoch_s, again.epoch_s);
    EXPECT_EQ(first.blocked_on_cpu_s, again.blocked_on_cpu_s);
    ASSERT_EQ(first.timeline.size(), again.timeline.size());
    for (std::size_t i = 0; i < first.timeline.size(); ++i) {
      EXPECT_EQ(first.timeline[i].begin_s, again.timeline[i].begin_s);
      EXPECT_EQ(first.timeline[i].end_s, again.timeline[i].end_s);
    }
  }
}

double resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

TEST(Predict, KeepsItsMemoryFlatOverThousandsOfRuns) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer holds freed memory back";
#endif
  Simulator simulator;
  auto profile = model_profile(profiles::DeviceKind::host);
  profile.workload.batches = 20;
  profile.machine.cpu.cores = 2;
  const auto run = [&](int times) {
    for (int i = 0; i < times; ++i) {
      predict(simulator, profile, claim_ahead_plan(2, 2));
    }
  };
  run(300);
  const double before = resident_bytes();
  run(3000);
  EXPECT_LT(resident_bytes() - before, 1e6);
}

TEST(Predict, TellsUtilisationAndWhatBinds) {
  // One worker, batches 4 s, copies 1 s, training 2 s: 3 batches end at 3 * 4 + 1 + 2 = 15.
  plan::Plan plan;
  plan.schedule = plan::Schedule::pipelined;
  plan.workers = 1;
  const MachineModel model{.costs = {.cpu_batch_s = 4, .transfer_s = 1, .train_s = 2}};
  const auto prediction = Simulator().run(plan, model, 3, true);
  EXPECT_DOUBLE_EQ(prediction.epoch_s, 15);
  EXPECT_DOUBLE_EQ(prediction.cpu_utilisation, 12.0 / 15);
  EXPECT_DOUBLE_EQ(prediction.link_utilisation, 3.0 / 15);
  EXPECT_DOUBLE_EQ(prediction.device_utilisation, 6.0 / 15);
  EXPECT_EQ(prediction.bound_by, "cpu");
  EXPECT_EQ(prediction.cpu_batches, 3);
  EXPECT_EQ(prediction.timeline.size(), 9U);
  EXPECT_DOUBLE_EQ(prediction.lower_bound_s, 12);
}

TEST(Predict, RefusesMoreWorkersThanCores) {
  Simulator simulator;
  EXPECT_THROW(predict(simulator, model_profile(profiles::DeviceKind::host), claim_ahead_plan(9, 1)),
               base::InputError);
}

}  // namespace
}  // namespace gnomon::sim
