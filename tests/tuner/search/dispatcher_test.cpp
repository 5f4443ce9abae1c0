#include "tuner/search/dispatcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "sim/predict.h"
#include "tests/fixtures/profiles.h"
#include "tests/random_seed.h"

namespace gnomon::tuner {
namespace {

double cost(double x, double cpu, double device, double transfer, double train) {
  return (x * device + std::max({transfer, (1 + x) * train, cpu - x * device})) / (1 + x);
}

TEST(FirstRatio, IsNeverBeatenByAFineGrid) {
  const test::RandomSeed seed(42);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-2, 2);
  int finite = 0;
  for (int round = 0; round < 1000; ++round) {
    const double cpu = std::exp(exponent(random));
    const double device = std::exp(exponent(random));
    const double transfer = std::exp(exponent(random) - 1);
    const double train = std::exp(exponent(random) - 1);
    const double x = first_ratio(cpu, device, transfer, train);
    const double found = std::isinf(x) ? device + train : cost(x, cpu, device, transfer, train);
    finite += std::isinf(x) ? 0 : 1;
    SCOPED_TRACE("round " + std::to_string(round));
    for (int step = 0; step <= 4000; ++step) {
      const double at = std::expm1(step * 0.004);  // 0 … 9e6, finer near 0
      ASSERT_LE(found, cost(at, cpu, device, transfer, train) * (1 + 1e-12)) << "x = " << at;
    }
  }
  EXPECT_GT(finite, 100);
}

TEST(FirstRatio, HandComputed) {
  // Training is dear beside the rest: CPU batches only, the device trains all the time.
  EXPECT_EQ(first_ratio(1, 2, 1, 3), 0);
  // CPU 10, device 2, copy 1, training 1: the maximum changes from the CPU to training at
  // x = (10 - 1) / (1 + 2) = 3: (3 * 2 + 4) / 4 = 2.5, less than the CPU alone (10) and the device (3).
  EXPECT_DOUBLE_EQ(first_ratio(10, 2, 1, 1), 3);
  // Training is free and a copy takes as long as nine device preparations: 9, 5 (x = 1), 19/11 (x = 10), and
  // 1 without CPU batches.
  EXPECT_TRUE(std::isinf(first_ratio(10, 1, 9, 0)));
}

profiles::Profile profile_of(double cpu_batch_s, double transfer_s, double device_batch_s, double train_s) {
  auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, 200,
                                  {cpu_batch_s, transfer_s, device_batch_s, train_s});
  profile.workload.device_batch_link_s = device_batch_s;
  return profile;
}

plan::Plan morphgl() {
  plan::Plan plan = plan::find_plan("morphgl");
  plan.workers = 4;
  return plan;
}

/// A prediction in which one overlap waits so long for the CPU or the device.
sim::Prediction waiting(const plan::Plan& plan, double on_cpu_s, double on_device_s, double epoch_s) {
  sim::Prediction prediction;
  prediction.cpu_batches = 10 * plan.cpu_buffer;
  prediction.blocked_on_cpu_s = 10 * on_cpu_s;
  prediction.blocked_on_device_s = 10 * on_device_s;
  prediction.epoch_s = epoch_s;
  return prediction;
}

/// With four workers (C = 40 / 4) this gives x = 3, as computed above: gbs 10, cbs floor(10 / 3) = 3.
profiles::Profile balanced_profile() { return profile_of(40, 1, 2, 1); }

TEST(Dispatcher, StopsWhenAnOverlapWaitsLessThanOneDeviceBatching) {
  const auto result = dispatch(balanced_profile(), morphgl(),
                               [](const plan::Plan& plan) { return waiting(plan, 1.9, 1.9, 7); });
  EXPECT_EQ(result.stopped_by, "balanced");
  EXPECT_EQ(result.rounds, 1);
  EXPECT_DOUBLE_EQ(result.first_ratio, 3);
  EXPECT_EQ(result.best.plan.cpu_buffer, 3);
  EXPECT_EQ(result.best.plan.device_buffer, 10);
  EXPECT_EQ(result.best.prediction.epoch_s, 7);
}

TEST(Dispatcher, ShrinksTheCpuBufferWhileTheCpuIsLate) {
  const auto result = dispatch(balanced_profile(), morphgl(), [](const plan::Plan& plan) {
    return waiting(plan, plan.cpu_buffer > 2 ? 5 : 1, 0, 7);
  });
  EXPECT_EQ(result.stopped_by, "balanced");
  EXPECT_EQ(result.rounds, 2);
  EXPECT_EQ(result.best.plan.cpu_buffer, 2);
}

TEST(Dispatcher, GrowsTheCpuBufferWhileTheDeviceIsLate) {
  const auto result = dispatch(balanced_profile(), morphgl(), [](const plan::Plan& plan) {
    return waiting(plan, 0, plan.cpu_buffer < 8 ? 5 : 1, 7);
  });
  EXPECT_EQ(result.stopped_by, "balanced");
  EXPECT_EQ(result.rounds, 6);  // 3 … 8
  EXPECT_EQ(result.best.plan.cpu_buffer, 8);
}

TEST(Dispatcher, StopsWhenAPlanRepeatsAndTakesTheFastest) {
  // 3 is late by the CPU, 2 by the device: 3 again. The first one was faster.
  const auto result = dispatch(balanced_profile(), morphgl(), [](const plan::Plan& plan) {
    return plan.cpu_buffer == 3 ? waiting(plan, 5, 0, 6) : waiting(plan, 0, 5, 7);
  });
  EXPECT_EQ(result.stopped_by, "repeated");
  EXPECT_EQ(result.rounds, 2);
  EXPECT_EQ(result.best.plan.cpu_buffer, 3);
}

TEST(Dispatcher, StopsGrowingAtTheEpoch) {
  auto profile = balanced_profile();
  profile.workload.batches = 6;
  const auto result = dispatch(
      profile, morphgl(), [](const plan::Plan& plan) { return waiting(plan, 0, 5, 10 - plan.cpu_buffer); });
  EXPECT_EQ(result.stopped_by, "repeated");
  EXPECT_EQ(result.best.plan.cpu_buffer, 6);
}

TEST(Dispatcher, FallsBackToTheDeviceWhenTheCpuIsTooLateForOneBatch) {
  const auto result =
      dispatch(balanced_profile(), morphgl(), [](const plan::Plan& plan) { return waiting(plan, 5, 0, 7); });
  EXPECT_EQ(result.stopped_by, "device only");
  EXPECT_EQ(result.rounds, 3);
  EXPECT_EQ(result.best.plan.schedule, plan::Schedule::sequential);
  EXPECT_EQ(result.best.plan.route, plan::Route::device);
  EXPECT_NO_THROW(plan::check(result.best.plan, "plan"));
}

TEST(Dispatcher, BeginsWithOneCpuBatchWhereTheRatioIsLarge) {
  // The copy bounds until x = 9 / 0.1 - 1 = 89, more than the ten batches of the device's buffer.
  const auto result = dispatch(profile_of(40, 9, 1, 0.1), morphgl(),
                               [](const plan::Plan& plan) { return waiting(plan, 0, 0, 7); });
  EXPECT_DOUBLE_EQ(result.first_ratio, 89);
  EXPECT_EQ(result.best.plan.cpu_buffer, 1);
}

TEST(Dispatcher, FallsBackToThePipelineWhenTrainingIsTheSlowest) {
  // Training 3 is more than CPU preparation 8 / 4 and copying 1.
  const auto result = dispatch(profile_of(8, 1, 2, 3), morphgl(),
                               [](const plan::Plan& plan) { return waiting(plan, 0, 0, 7); });
  EXPECT_EQ(result.stopped_by, "pipeline");
  EXPECT_EQ(result.best.plan.schedule, plan::Schedule::pipelined);
  EXPECT_EQ(result.best.plan.route, plan::Route::cpu);
  EXPECT_NO_THROW(plan::check(result.best.plan, "plan"));
}

TEST(Dispatcher, EndsOnTheSimulatorForRandomMachines) {
  const test::RandomSeed seed(7);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(-1.5, 1.5);
  sim::Simulator simulator;
  for (int round = 0; round < 60; ++round) {
    const auto profile = profile_of(8 * std::exp(exponent(random)), 0.3 * std::exp(exponent(random)),
                                    std::exp(exponent(random)), std::exp(exponent(random)));
    const auto result = dispatch(
        profile, morphgl(), [&](const plan::Plan& plan) { return sim::predict(simulator, profile, plan); });
    SCOPED_TRACE("round " + std::to_string(round));
    EXPECT_LT(result.rounds, 200);
    EXPECT_GE(result.best.prediction.epoch_s, result.best.prediction.lower_bound_s * (1 - 1e-9));
  }
}

}  // namespace
}  // namespace gnomon::tuner
