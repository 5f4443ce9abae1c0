#include "tuner/explore/extrapolation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gnomon::tuner {
namespace {

using profiles::RestsOn;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// Of a machine of 16 cores, measured on `cores`.
profiles::Extended measured_with(std::vector<profiles::ScalingPoint> points, int cores = 4) {
  profiles::Profile profile;
  profile.machine.cpu.cores = 16;
  profile.workload.worker_efficiency = points;
  profile.workload.cpu_batch_speedup = points;
  profile.workload.train_speedup = points;
  profile.workload.device_batch_speedup = points;
  return profiles::extended(std::move(profile), {.cores = cores});
}

plan::Plan plan_of(plan::Route route, int workers, int device_threads) {
  plan::Plan plan;
  plan.route = route;
  plan.workers = workers;
  plan.device_threads = device_threads;
  return plan;
}

auto says(RestsOn on, const char* begin) {
  return AllOf(Field(&Reliance::on, on), Field(&Reliance::why, StartsWith(begin)));
}

TEST(Extrapolation, WithinTheMeasurementsThereIsNone) {
  const auto profile = measured_with({{1, 1}, {4, 3}});
  EXPECT_THAT(extrapolations(profile, {4}, plan_of(plan::Route::both, 3, 4)), IsEmpty());
}

TEST(Extrapolation, NamesTheThreadsThatWereNotMeasured) {
  const auto profile = measured_with({{1, 1}, {4, 0.9}});
  EXPECT_THAT(extrapolations(profile, {4}, plan_of(plan::Route::cpu, 8, 2)),
              ElementsAre(says(RestsOn::assumed,
                               "more workers than measured (4): counts over nominal speeds; memory bandwidth "
                               "stays or grows with the cores")));
  EXPECT_THAT(
      extrapolations(profile, {4}, plan_of(plan::Route::device, 0, 8)),
      ElementsAre(says(RestsOn::assumed, "more threads that train than measured (4): "),
                  says(RestsOn::assumed, "more threads that prepare on the device than measured (4)")));
  auto shared = plan_of(plan::Route::cpu, 1, 1);
  shared.worker_threads = 8;
  EXPECT_THAT(extrapolations(profile, {4}, shared),
              ElementsAre(says(RestsOn::assumed, "more workers"),
                          says(RestsOn::assumed, "more threads of a worker")));
}

// A paper's profile has no points: its times are those of its machine.
TEST(Extrapolation, WithoutPointsTheMachineIsTheMeasurement) {
  const auto profile = measured_with({}, 8);
  EXPECT_THAT(extrapolations(profile, {8}, plan_of(plan::Route::cpu, 8, 8)), IsEmpty());
  EXPECT_THAT(extrapolations(profile, {8}, plan_of(plan::Route::cpu, 9, 1)),
              ElementsAre(says(RestsOn::assumed, "more workers than measured (8): ")));
}

TEST(Extrapolation, AnotherKindOfDeviceAndMoreDevicesAreOthers) {
  auto profile = measured_with({{1, 1}, {4, 3}});
  profile.profile.machine.device.kind = plan::DeviceKind::cuda;
  auto plan = plan_of(plan::Route::device, 0, 1);
  EXPECT_THAT(extrapolations(profile, {4, plan::DeviceKind::host}, plan),
              ElementsAre(says(RestsOn::data_sheet, "another kind of device than measured")));
  plan.devices = 2;
  EXPECT_THAT(extrapolations(profile, {4, plan::DeviceKind::cuda, 1}, plan),
              ElementsAre(says(RestsOn::assumed, "more devices than measured (1)")));
}

// Only stages that the plan uses count, and a time that was kept for want of numbers is assumed.
TEST(Reliances, AreTheScalingsOfThePlansStages) {
  profiles::Profile profile;
  profile.workload.cpu_batch.mean_s = profile.workload.train.mean_s = 1;
  const std::vector<profiles::StageScaling> scalings{
      {.stage = "cpu_batch", .reason = "no specification gives a core's speed"},
      {.stage = "transfer", .reason = "a host device copies nothing"},
      {.stage = "train", .factor = 2.0, .reason = "device memory bandwidth 1 to 2 GB/s"}};
  EXPECT_THAT(reliances_on(scalings, profile, plan_of(plan::Route::device, 0, 1)),
              ElementsAre(says(RestsOn::data_sheet, "train x2 (device memory bandwidth")));
  EXPECT_THAT(reliances_on(scalings, profile, plan_of(plan::Route::cpu, 1, 1)),
              ElementsAre(says(RestsOn::assumed, "cpu_batch kept"), says(RestsOn::data_sheet, "train x2")));
}

TEST(Reliances, OfSpeedsHaveAnInterval) {
  profiles::Profile profile;
  profile.workload.train.mean_s = 1;
  const auto of_interval = [&](double interval) {
    const std::vector<profiles::StageScaling> scalings{
        {.stage = "train", .factor = 1.0, .reason = "measured copies", .interval = interval}};
    return reliances_on(scalings, profile, plan_of(plan::Route::device, 0, 1));
  };
  EXPECT_THAT(of_interval(0.3), ElementsAre(says(RestsOn::speeds, "train x1 +-30 %")));
  EXPECT_THAT(of_interval(0), IsEmpty()) << "the same machine";
}

TEST(Reliances, TheWeakestCounts) {
  EXPECT_EQ(weakest({}).on, RestsOn::measured);
  const auto all = weakest({{RestsOn::speeds, "a"}, {RestsOn::assumed, "b"}, {RestsOn::assumed, "c"}});
  EXPECT_EQ(all.on, RestsOn::assumed);
  EXPECT_EQ(all.why, "b; c");
}

}  // namespace
}  // namespace gnomon::tuner
