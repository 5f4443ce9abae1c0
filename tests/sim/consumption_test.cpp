#include "sim/consumption.h"

#include <gtest/gtest.h>

#include "sim/predict.h"
#include "tests/fixtures/profiles.h"

namespace gnomon::sim {
namespace {

profiles::Profile profile_of(profiles::DeviceKind device) {
  auto profile = test::profile_of(device, 12, 100, {0.03, 0.002, 0.01, 0.02});
  profile.machine.device.count = 2;
  profile.machine.running = {.idle_w = 20, .core_w = 5, .device_w = 200, .price_per_hour = 1.8};
  profile.workload.batch_bytes = 1e6;
  return profile;
}

Prediction epoch() {
  Prediction prediction;
  prediction.epoch_s = 10;
  prediction.cpu_utilisation = 0.5;
  prediction.link_utilisation = 0.25;
  prediction.device_utilisation = 0.8;
  return prediction;
}

plan::Plan plan_of(int workers, int device_threads) {
  plan::Plan plan;
  plan.workers = workers;
  plan.worker_threads = 2;
  plan.device_threads = device_threads;
  return plan;
}

TEST(Consumption, AddsCoresOfAHostDevice) {
  // Idle all along; workers half of the time on 4 x 2 cores; the device 0.8 of it on 3; a copying core 0.25.
  const auto use = consumption_of(profile_of(profiles::DeviceKind::host), plan_of(4, 3), epoch());
  EXPECT_DOUBLE_EQ(use.energy_j.value(), 10 * (20 + 5 * (0.5 * 8 + 0.8 * 3 + 0.25)));
  EXPECT_DOUBLE_EQ(use.price.value(), 10 / 3600.0 * 1.8);
}

TEST(Consumption, AddsGpusByTheirTime) {
  auto plan = plan_of(4, 3);
  plan.devices = 2;
  const auto use = consumption_of(profile_of(profiles::DeviceKind::cuda), plan, epoch());
  EXPECT_DOUBLE_EQ(use.energy_j.value(), 10 * (20 + 5 * 0.5 * 8 + 200 * 0.8 * 2));
}

TEST(Consumption, IsNotKnownWhereTheProfileDoesNotTell) {
  auto profile = profile_of(profiles::DeviceKind::cuda);
  profile.machine.running = {.idle_w = 20, .core_w = 5, .device_w = {}, .price_per_hour = {}};
  EXPECT_FALSE(consumption_of(profile, plan_of(4, 3), epoch()).energy_j) << "what the GPU draws";
  EXPECT_FALSE(consumption_of(profile, plan_of(4, 3), epoch()).price);
}

/// One batch behind the other, prepared and trained by the device: it is busy all the time.
TEST(Consumption, IsToldWithPredictions) {
  const auto profile = profile_of(profiles::DeviceKind::cuda);
  plan::Plan plan;
  plan.schedule = plan::Schedule::sequential;
  plan.route = plan::Route::device;
  Simulator simulator;
  for (const auto& prediction : {predict(simulator, profile, plan), predict_quickly(profile, plan)}) {
    EXPECT_NEAR(prediction.epoch_s, 100 * 0.03, 1e-9);
    EXPECT_NEAR(prediction.consumption.energy_j.value(), 3 * (20 + 200), 1e-6);
    EXPECT_NEAR(prediction.consumption.price.value(), 3 / 3600.0 * 1.8, 1e-12);
  }
}

}  // namespace
}  // namespace gnomon::sim
