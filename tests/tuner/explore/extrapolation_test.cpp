#include "tuner/explore/extrapolation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnomon::tuner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

profiles::Profile measured_with(std::vector<profiles::ScalingPoint> points) {
  profiles::Profile profile;
  profile.machine.cpu.cores = 16;
  profile.workload.worker_efficiency = points;
  profile.workload.cpu_batch_speedup = points;
  profile.workload.train_speedup = points;
  profile.workload.device_batch_speedup = points;
  return profile;
}

plan::Plan plan_of(plan::Route route, int workers, int device_threads) {
  plan::Plan plan;
  plan.route = route;
  plan.workers = workers;
  plan.device_threads = device_threads;
  return plan;
}

TEST(Extrapolation, WithinTheMeasurementsThereIsNone) {
  const auto profile = measured_with({{1, 1}, {4, 3}});
  EXPECT_THAT(extrapolations(profile, {4}, plan_of(plan::Route::both, 3, 4)), IsEmpty());
}

TEST(Extrapolation, NamesTheThreadsThatWereNotMeasured) {
  auto profile = measured_with({{1, 1}, {4, 2}});                         // a serial share of 1/3
  profile.workload.worker_efficiency = {{1, 1}, {2, 0.8}, {3, 1 / 1.5}};  // each costs another a quarter
  EXPECT_THAT(
      extrapolations(profile, {4}, plan_of(plan::Route::cpu, 8, 2)),
      ElementsAre("more workers than measured (3): each other worker is assumed to cost one 25.0 % of its "
                  "time alone, as those measured do"));
  EXPECT_THAT(
      extrapolations(profile, {4}, plan_of(plan::Route::device, 0, 8)),
      ElementsAre(
          "more threads that train than measured (4): Amdahl's law with the measured serial share of 33.3 %",
          "more threads that prepare on the device than measured (4): Amdahl's law with the measured serial "
          "share of 33.3 %"));
  auto shared = plan_of(plan::Route::cpu, 1, 1);
  shared.worker_threads = 8;
  EXPECT_THAT(extrapolations(profile, {4}, shared),
              ElementsAre(StartsWith("more workers"), StartsWith("more threads of a worker")));
}

// A paper's profile has no points: its times are those of its machine.
TEST(Extrapolation, WithoutPointsTheMachineIsTheMeasurement) {
  const auto profile = measured_with({});
  EXPECT_THAT(extrapolations(profile, {8}, plan_of(plan::Route::cpu, 8, 8)), IsEmpty());
  EXPECT_THAT(extrapolations(profile, {8}, plan_of(plan::Route::cpu, 9, 1)),
              ElementsAre("more workers than measured (8): each is assumed to be as fast as one of 8"));
}

TEST(Extrapolation, AnotherKindOfDeviceAndMoreDevicesAreOthers) {
  auto profile = measured_with({{1, 1}, {4, 3}});
  profile.machine.device.kind = plan::DeviceKind::cuda;
  auto plan = plan_of(plan::Route::device, 0, 1);
  EXPECT_THAT(extrapolations(profile, {4, plan::DeviceKind::host}, plan),
              ElementsAre(StartsWith("another kind of device than measured")));
  plan.devices = 2;
  EXPECT_THAT(extrapolations(profile, {4, plan::DeviceKind::cuda, 1}, plan),
              ElementsAre(StartsWith("more devices than measured (1)")));
}

}  // namespace
}  // namespace gnomon::tuner
