#include "profiles/more_cores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "profiles/scaling.h"
#include "tests/fixtures/profiles.h"
#include "tests/fixtures/speeds.h"

namespace gnomon::profiles {
namespace {

/// Of two cores, to be continued on more.
Profile measured_on_two() {
  auto profile = test::profile_of(DeviceKind::host, 2, 30, {0.02, 0, 0.02, 0.04});
  auto& workload = profile.workload;
  workload.job.fanouts = {10, 5};
  workload.job.hidden = 32;
  workload.vertices = 100000;
  workload.edges = 1000000;
  workload.feature_columns = 64;
  workload.feature_row_bytes = 256;
  workload.batch_vertices = 5000;
  workload.batch_edges = 20000;
  workload.batch_bytes = 2e6;
  workload.worker_efficiency = {{1, 1}, {2, 0.8}};
  workload.cpu_batch_speedup = {{1, 1}, {2, 1.3}};
  workload.train_speedup = {{1, 1}, {2, 1.4}};
  workload.device_batch_speedup = {{1, 1}, {2, 1.2}};
  return profile;
}

Extended on_cores(Profile profile, int cores) {
  const auto measured = measured_on(profile);
  profile.machine.cpu.cores = cores;
  return extended(std::move(profile), measured);
}

TEST(MoreCores, ReachTheCoresFromMeasuredPointsThatStay) {
  const auto profile = measured_on_two();
  const auto more = on_cores(profile, 32);
  for (const Scaled list : {Scaled::workers, Scaled::worker_threads, Scaled::training, Scaled::preparing}) {
    const auto& before = profile.workload.*points_of(list);
    const auto& after = more.profile.workload.*points_of(list);
    EXPECT_EQ(after.back().threads, 32) << field_of(list);
    EXPECT_GT(after.back().interval.value_or(0), 0);
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(after[i].threads, before[i].threads);
      EXPECT_EQ(after[i].value, before[i].value);
      EXPECT_EQ(after[i].interval, before[i].interval);
    }
    EXPECT_EQ(more.of(list).measured, 2);
    EXPECT_EQ(more.of(list).rests_on, RestsOn::assumed) << "the machine has no speeds";
  }
  EXPECT_TRUE(more.profile.workload.cpu_sample_speedup.empty()) << "scales as the whole";
  EXPECT_NO_THROW(check(more.profile, "p.json"));
}

TEST(MoreCores, AreNotNeededOnTheMeasuredMachine) {
  const auto profile = measured_on_two();
  for (const int cores : {1, 2}) {
    const auto same = on_cores(profile, cores);
    EXPECT_EQ(same.profile.workload.train_speedup.size(), 2U);
    EXPECT_FALSE(same.profile.workload.train_speedup.back().interval.has_value());
    EXPECT_FALSE(same.more_contention.has_value());
    EXPECT_EQ(same.of(Scaled::training).law, "");
  }
}

// Nothing is as fast as one thread because there was no time to measure it.
TEST(MoreCores, ContinueAListThatEndsBelowTheCores) {
  auto profile = measured_on_two();
  profile.workload.train_speedup = {{1, 1}};
  const auto same = on_cores(profile, 2);
  EXPECT_GT(speedup_at(same.profile.workload.train_speedup, 2), 1.01);
  EXPECT_GT(same.profile.workload.train_speedup.back().interval.value_or(0), 0.2);
  EXPECT_EQ(same.of(Scaled::training).measured, 1);
}

// A paper's profile has no points: its times are those on its machine's cores.
TEST(MoreCores, StartFromTheMachinesCoresWithoutPoints) {
  auto profile = measured_on_two();
  profile.workload.worker_efficiency.clear();
  const auto more = on_cores(profile, 8);
  const auto& points = more.profile.workload.worker_efficiency;
  EXPECT_EQ(worker_efficiency_at(points, 2), 1);
  EXPECT_EQ(worker_efficiency_at(points, 8), 1);
  EXPECT_GT(points.back().interval.value_or(0), 0.3);
  EXPECT_TRUE(on_cores(profile, 2).profile.workload.worker_efficiency.empty());
}

TEST(MoreCores, RestOnTheMachinesSpeeds) {
  auto profile = measured_on_two();
  profile.machine_speeds = test::uniform_speeds(1e9);
  EXPECT_EQ(on_cores(profile, 8).of(Scaled::training).rests_on, RestsOn::assumed) << "of one thread only";
  const auto one = profile.machine_speeds->speeds;
  for (Speed speed : one) {
    if (speed.work != Work::operations) {
      speed.threads = 2;
      speed.per_s *= 1.3;
      profile.machine_speeds->speeds.push_back(speed);
    }
  }
  profile.machine.cpu.memory_bandwidth_bytes_per_s = 2e10;
  const auto more = on_cores(profile, 8);
  EXPECT_EQ(more.of(Scaled::training).rests_on, RestsOn::speeds);
  EXPECT_EQ(more.of(Scaled::training).law,
            "counts over the machine's speeds; hardware threads share cores; memory bandwidth stays or grows "
            "with the cores");
  const auto measured = measured_on(profile);
  profile.machine.cpu.cores = 8;
  profile.machine.cpu.memory_bandwidth_bytes_per_s = 8e10;
  const auto known = extended(profile, measured);
  EXPECT_EQ(known.of(Scaled::training).rests_on, RestsOn::data_sheet);
  EXPECT_LT(*known.profile.workload.train_speedup.back().interval,
            *more.profile.workload.train_speedup.back().interval);
}

// All workers of the larger machine slow a stage down as all of the measured one do; if the workers' range
// is right at its lower end, more.
TEST(MoreCores, DivideTheContention) {
  auto profile = measured_on_two();
  profile.machine.contention.train_beside_cpu_batch = 1.4;
  profile.machine.contention.cpu_batch_beside_train = 1.2;
  profile.machine.contention.device_batch_beside_cpu_batch = 0.9;
  const auto more = on_cores(profile, 9);
  const auto& contention = more.profile.machine.contention;
  EXPECT_NEAR(*contention.train_beside_cpu_batch, 1 + 0.4 / 8, 1e-12);
  EXPECT_EQ(*contention.cpu_batch_beside_train, 1.2) << "there is one trainer";
  EXPECT_EQ(*contention.device_batch_beside_cpu_batch, 0.9);
  EXPECT_GT(*more.more_contention->train_beside_cpu_batch, *contention.train_beside_cpu_batch);
  EXPECT_LE(*more.more_contention->train_beside_cpu_batch, 1.4);
}

TEST(MoreCores, EvaluateAsTheyTrain) {
  auto profile = measured_on_two();
  profile.workload.evaluation = {.time_s = 3.0, .host_bytes = 1};
  const auto more = on_cores(profile, 8);
  EXPECT_NEAR(*more.profile.workload.evaluation->time_s,
              3 * 1.4 / speedup_at(more.profile.workload.train_speedup, 8), 1e-12);
  EXPECT_NEAR(*on_cores(profile, 1).profile.workload.evaluation->time_s, 3 * 1.4, 1e-12);
}

TEST(MoreCores, BeliefsOfPointsBecomeTheirIntervals) {
  auto profile = measured_on_two();
  profile.beliefs = {{.of = "train_speedup@2", .deviation = 0.2, .samples = 0}};
  EXPECT_EQ(on_cores(profile, 2).of(Scaled::training).measured, 1);
  EXPECT_EQ(on_cores(profile, 2).of(Scaled::training).rests_on, RestsOn::assumed);
  const auto more = on_cores(profile, 8);
  EXPECT_EQ(more.of(Scaled::training).measured, 1);
  EXPECT_EQ(more.of(Scaled::training).continued_from, 2);
  EXPECT_NEAR(*more.profile.workload.train_speedup[1].interval, std::expm1(1.96 * 0.2), 1e-12);
  EXPECT_GT(*more.profile.workload.train_speedup.back().interval,
            *on_cores(measured_on_two(), 8).profile.workload.train_speedup.back().interval);
}

TEST(MoreCores, DoNotTouchAGpu) {
  auto profile = measured_on_two();
  profile.machine.device.kind = DeviceKind::cuda;
  profile.workload.train_speedup.clear();
  profile.workload.device_batch_speedup.clear();
  const auto more = on_cores(profile, 8);
  EXPECT_TRUE(more.profile.workload.train_speedup.empty());
  EXPECT_EQ(more.profile.workload.worker_efficiency.back().threads, 8);
}

}  // namespace
}  // namespace gnomon::profiles
