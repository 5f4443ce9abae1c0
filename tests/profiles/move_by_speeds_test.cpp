#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "profiles/catalog.h"
#include "profiles/speed_ratio.h"
#include "profiles/stage_work.h"
#include "tests/fixtures/profiles.h"
#include "tests/fixtures/speeds.h"

namespace gnomon::profiles {
namespace {

using ::testing::HasSubstr;

Profile measured_on_host() {
  auto profile = test::profile_of(DeviceKind::host, 4, 60, {.cpu_batch_s = 0.02, .device_batch_s = 0.03});
  auto& workload = profile.workload;
  workload.train = {
      .mean_s = 0.04, .deviation_s = 0.004, .p5_s = 0.03, .p50_s = 0.039, .p95_s = 0.05, .interval_s = 0.001};
  workload.vertices = 1000;
  workload.edges = 9000;
  workload.feature_columns = 64;
  workload.feature_row_bytes = 256;
  workload.batch_vertices = 500;
  workload.batch_edges = 2000;
  workload.job.fanouts = {5, 5};
  workload.parts.cpu_sample_s = 0.015;
  workload.parts.device_sample_s = 0.02;
  workload.evaluation = EvaluationProfile{.time_s = 3, .host_bytes = 10};
  profile.corrections.emplace();
  profile.prediction_error = 0.05;
  profile.machine.cpu.name = "a CPU";
  profile.machine.cpu.memory_bandwidth_bytes_per_s = 1e10;
  profile.machine.cpu.runtime_bytes = 3e8;
  return profile;
}

CatalogMachine machine_of(const Profile& profile, MachineSpeeds speeds) {
  CatalogMachine machine;
  machine.machine = profile.machine;
  machine.speeds = std::move(speeds);
  return machine;
}

TEST(MoveBySpeeds, ToTheSameMachineChangesNothing) {
  const auto profile = measured_on_host();
  const auto speeds = test::uniform_speeds(1e9, 0.02);
  const auto moved = move_to_machine(profile, machine_of(profile, speeds), speeds);
  EXPECT_EQ(base::to_document(moved.profile), base::to_document(profile));
  for (const auto& scaling : moved.scalings) {
    EXPECT_EQ(scaling.factor, 1.0) << scaling.stage;
  }
}

TEST(MoveBySpeeds, TwiceAsFastTakesHalfAsLong) {
  const auto profile = measured_on_host();
  const auto speeds = test::uniform_speeds(1e9);
  const auto moved = move_to_machine(profile, machine_of(profile, test::times(speeds, 2)), speeds);
  const auto& workload = moved.profile.workload;
  EXPECT_NEAR(workload.cpu_batch.mean_s, 0.01, 1e-15);
  EXPECT_NEAR(workload.device_batch.mean_s, 0.015, 1e-15);
  EXPECT_NEAR(workload.train.mean_s, 0.02, 1e-15);
  EXPECT_NEAR(workload.train.deviation_s, 0.002, 1e-15);
  EXPECT_NEAR(workload.train.interval_s, std::hypot(0.0005, model_half_width * visit_deviation * 0.02),
              1e-15);
  EXPECT_NEAR(*workload.parts.cpu_sample_s, 0.0075, 1e-15);
  EXPECT_NEAR(*workload.parts.device_sample_s, 0.01, 1e-15);
  EXPECT_FALSE(moved.profile.corrections.has_value());
  EXPECT_EQ(moved.profile.machine.cpu.runtime_bytes, 3e8);
  EXPECT_THAT(text_of(moved.scalings), HasSubstr("train x0.5 +-28 % (measured "));
  EXPECT_THAT(text_of(moved.scalings), testing::Not(HasSubstr("bandwidth")));
}

// The other machine gathers faster and samples at the same speed.
TEST(MoveBySpeeds, PartsOfPreparationMoveByTheirCounts) {
  const auto profile = measured_on_host();
  const auto speeds = test::uniform_speeds(1e9);
  const auto to = machine_of(profile, test::times(speeds, Work::huge_page_rows, 5));
  const auto& workload = move_to_machine(profile, to, speeds).profile.workload;
  double all = 0;
  for (const auto& work : {sampling_work(profile.workload), gathering_work(profile.workload)}) {
    for (const auto& amount : work) {
      all += amount.count;
    }
  }
  const double rows = 500 * 256;
  EXPECT_NEAR(workload.cpu_batch.mean_s, 0.02 * (all - rows * 4 / 5) / all, 1e-15);
  EXPECT_EQ(*workload.parts.cpu_sample_s, 0.015);
  EXPECT_EQ(workload.train.mean_s, 0.04);
}

/// Speeds of all four cores, each kind `speedup` times those of one.
MachineSpeeds with_all_cores(MachineSpeeds speeds, double speedup) {
  const auto alone = speeds.speeds;
  for (auto speed : alone) {
    if (speed.work != Work::operations) {
      speed.threads = 4;
      speed.per_s *= speedup;
      speeds.speeds.push_back(speed);
    }
  }
  return speeds;
}

// Four cores together are 3 times as fast as one on the measured machine, and twice on the new one; two cores
// of it are by the square root of both.
TEST(MoveBySpeeds, SpeedupsOfThreadsMoveByThoseOfTheProbes) {
  auto profile = measured_on_host();
  profile.workload.cpu_batch_speedup = {{1, 1}, {2, 1.5}, {4, 2.5}};
  profile.workload.cpu_sample_speedup = {{1, 1}, {4, 2}};
  profile.workload.worker_efficiency = {{1, 1}, {2, 0.9}, {4, 0.8}};
  const auto from = with_all_cores(test::uniform_speeds(1e9), 3);
  const auto to = with_all_cores(test::uniform_speeds(2e9), 2);
  const auto workload = move_to_machine(profile, machine_of(profile, to), from).profile.workload;
  EXPECT_NEAR(workload.cpu_batch_speedup[1].value, 1.5 * std::sqrt(2.0 / 3), 1e-12);
  EXPECT_NEAR(workload.cpu_batch_speedup[2].value, 2.5 * 2 / 3, 1e-12);
  EXPECT_GT(workload.cpu_batch_speedup[2].interval.value(), 0.1) << "moved, and therefore uncertain";
  EXPECT_EQ(workload.cpu_batch_speedup[0].interval.value(), 0);
  EXPECT_NEAR(workload.cpu_sample_speedup[1].value, 2.0 * 2 / 3, 1e-12);
  EXPECT_NEAR(workload.worker_efficiency[2].value, 0.8 * 2 / 3, 1e-12);
  EXPECT_EQ(workload.worker_efficiency[0].value, 1);
}

TEST(MoveBySpeeds, AProfileOfOneCoreGetsTheSpeedupsOfTheProbes) {
  auto profile = measured_on_host();
  auto machine = machine_of(profile, with_all_cores(test::uniform_speeds(2e9), 3));
  profile.machine.cpu.cores = 1;
  const auto workload = move_to_machine(profile, machine, test::uniform_speeds(1e9)).profile.workload;
  ASSERT_EQ(workload.worker_efficiency.size(), 2U);
  EXPECT_EQ(workload.worker_efficiency[1].threads, 4);
  EXPECT_NEAR(workload.worker_efficiency[1].value, 0.75, 1e-12);
  EXPECT_GT(workload.train_speedup[1].value, 2.5);
  EXPECT_LT(workload.train_speedup[1].value, 3) << "one thread calls operations";
  EXPECT_LT(workload.device_batch_speedup.size(), 2U);
}

TEST(MoveBySpeeds, IntervalsOfStagesGrowByThatOfTheRatio) {
  const auto profile = measured_on_host();
  const auto moved = move_to_machine(profile, machine_of(profile, test::uniform_speeds(2e9, 0.1)),
                                     test::uniform_speeds(1e9, 0.05));
  const auto& train = moved.profile.workload.train;
  double ratio = 0;
  for (const auto& scaling : moved.scalings) {
    ratio = scaling.stage == "train" ? scaling.interval.value() : ratio;
  }
  EXPECT_GT(ratio, 0.05);
  EXPECT_NEAR(train.interval_s / train.mean_s, std::hypot(0.001 / 0.04, ratio), 1e-12);
}

TEST(MoveBySpeeds, WithoutSpeedsItIsByBandwidths) {
  const auto profile = measured_on_host();
  auto machine = machine_of(profile, test::uniform_speeds(1e9));
  machine.machine.cpu.memory_bandwidth_bytes_per_s = 2e10;
  EXPECT_NEAR(move_to_machine(profile, machine, std::nullopt).profile.workload.train.mean_s, 0.02, 1e-15);
  machine.speeds.reset();
  const auto moved = move_to_machine(profile, machine, test::uniform_speeds(1e9));
  EXPECT_NEAR(moved.profile.workload.train.mean_s, 0.02, 1e-15);
  EXPECT_THAT(text_of(moved.scalings), HasSubstr("[by bandwidths, not by measured speeds]"));
}

// A core's speeds say how long a GPU's memory and launches take for the same counts.
TEST(MoveBySpeeds, ToAGpu) {
  const auto profile = measured_on_host();
  auto machine = machine_of(profile, test::uniform_speeds(1e9));
  machine.machine.device.kind = DeviceKind::cuda;
  machine.machine.link.bandwidth_bytes_per_s = 1e10;
  for (const Work work : {Work::device_dense_fp32, Work::device_rows, Work::device_copies}) {
    machine.speeds->speeds.push_back({.work = work, .size = 1e6, .per_s = 1e12});
  }
  machine.speeds->speeds.push_back({.work = Work::launches, .per_s = 1e12});
  const auto moved = move_to_machine(profile, machine, test::uniform_speeds(1e9));
  EXPECT_NEAR(moved.profile.workload.train.mean_s, 0.04 / 1000, 1e-9);
  EXPECT_NEAR(moved.profile.workload.cpu_batch.mean_s, 0.02, 1e-15) << "cores are the same";
  EXPECT_NO_THROW(check(moved.profile, "moved"));
}

std::string refusal(const CatalogMachine& machine, const Profile& profile) {
  try {
    speeds_of(machine, profile.machine, "--from: m.json");
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(SpeedsOf, AreThoseOfTheMeasuredMachine) {
  const auto profile = measured_on_host();
  auto machine = machine_of(profile, test::uniform_speeds(1e9));
  EXPECT_EQ(refusal(machine, profile), "no error");
  machine.machine.cpu.cores = 2;
  EXPECT_EQ(refusal(machine, profile),
            "--from: m.json: is the document of another machine: cores \"2\", not \"4\"");
  machine.machine.cpu.name = "another CPU";
  EXPECT_EQ(refusal(machine, profile),
            "--from: m.json: is the document of another machine: processor \"another "
            "CPU\", not \"a CPU\"");
  machine.speeds.reset();
  EXPECT_EQ(refusal(machine, profile),
            "--from: m.json: has no measured speeds; write it with gnomon machine -o FILE");
}

}  // namespace
}  // namespace gnomon::profiles
