#include "sim/uncertainty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/fixtures/profiles.h"

namespace gnomon::sim {
namespace {

profiles::Profile measured_profile() {
  auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, 20, {0.1, 0.02, 0.07, 0.05});
  profile.workload.cpu_batch.interval_s = 0.01;
  profile.workload.transfer.interval_s = 0.002;
  profile.workload.device_batch.interval_s = 0.03;
  profile.workload.train.interval_s = 0.005;
  return profile;
}

plan::Plan sequential() {
  plan::Plan plan;
  plan.name = "sequential";
  plan.workers = 1;
  return plan;
}

std::string refusal_of(const profiles::Profile& profile) {
  try {
    check_precision(profile, "p.json");
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "";
}

// One stage after another: the epoch is their sum, and its error that of a sum of independent ones.
TEST(Uncertainty, OfStagesThatFollowEachOther) {
  const auto interval = epoch_interval_s(measured_profile(), sequential());
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(*interval, 20 * std::sqrt(0.01 * 0.01 + 0.002 * 0.002 + 0.005 * 0.005), 1e-9);
}

// What is hidden behind the CPU route does not count.
TEST(Uncertainty, OfABottleneckIsItsOwn) {
  auto plan = sequential();
  plan.schedule = plan::Schedule::pipelined;
  plan.order = plan::Order::as_ready;
  plan.cpu_buffer = 4;
  auto profile = measured_profile();
  profile.workload.train.interval_s = 0.04;
  const auto interval = epoch_interval_s(profile, plan);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(*interval, 20 * 0.01, 0.25 * 20 * 0.01);  // the last batch is not hidden
}

TEST(Uncertainty, IsUnknownWithoutIntervals) {
  const auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, 20, {0.1, 0.02, 0.07, 0.05});
  EXPECT_FALSE(epoch_interval_s(profile, sequential()).has_value());
  EXPECT_EQ(refusal_of(profile), "");
}

TEST(Uncertainty, RefusesWhatIsWorthless) {
  auto profile = measured_profile();
  EXPECT_EQ(refusal_of(profile), "");
  profile.workload.cpu_batch.interval_s = 0.19;
  EXPECT_EQ(refusal_of(profile), "");
  profile.workload.cpu_batch.interval_s = 1.11;
  profile.workload.cpu_batch.samples = 2;
  EXPECT_THAT(refusal_of(profile), testing::AllOf(testing::HasSubstr("p.json"),
                                                  testing::HasSubstr("CPU batching took 0.1 s ± 1110 % in 2 "
                                                                     "samples"),
                                                  testing::HasSubstr("--time-limit")));
}

}  // namespace
}  // namespace gnomon::sim
