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

// A learned correction is as uncertain as it was in held-out runs.
TEST(Uncertainty, HoldsLearnedCorrections) {
  auto profile = measured_profile();
  const auto before = epoch_interval_s(profile, sequential());
  profile.learned.emplace().regimes = {{plan::regime_of(sequential(), profiles::cores_of(profile)),
                                        {.train = profiles::Correction{1, 0.1, 20}}}};
  const auto after = epoch_interval_s(profile, sequential());
  ASSERT_TRUE(before && after);
  EXPECT_NEAR(*after, std::hypot(*before, 20 * 0.05 * 1.96 * 0.1), 1e-9);
}

// What was never measured is part of the interval.
TEST(Uncertainty, HoldsTheBeliefs) {
  auto profile = test::profile_of(profiles::DeviceKind::host, 2, 20, {0.1, 0, 0.07, 0.05});
  profile.workload.train.interval_s = profile.workload.cpu_batch.interval_s =
      profile.workload.device_batch.interval_s = 1e-6;
  auto plan = sequential();
  plan.route = plan::Route::device;
  plan.workers = 0;
  plan.device_threads = 2;
  profile.workload.train_speedup = profile.workload.device_batch_speedup = {{1, 1}, {2, 1.5}};
  const double before_s = *epoch_interval_s(profile, plan);
  profile.beliefs = {{"train_speedup@2", 0.2, 0}};
  const double after_s = *epoch_interval_s(profile, plan);
  EXPECT_LT(before_s, 1e-3);
  EXPECT_NEAR(after_s, 20 * 0.05 / 1.5 * (std::exp(1.96 * 0.2) - 1), 1e-6);
  plan.device_threads = 1;
  EXPECT_NEAR(*epoch_interval_s(profile, plan), before_s, 1e-4) << "trains on one thread";
}

// The interval of one point replaces that point's belief, not those of others.
TEST(Uncertainty, APointsOwnIntervalReplacesItsBeliefOnly) {
  auto profile = test::profile_of(profiles::DeviceKind::host, 2, 20, {0.1, 0, 0.07, 0.05});
  profile.workload.train.interval_s = profile.workload.cpu_batch.interval_s =
      profile.workload.device_batch.interval_s = 1e-6;
  auto plan = sequential();
  plan.route = plan::Route::device;
  plan.workers = 0;
  plan.device_threads = 2;
  profile.workload.train_speedup = profile.workload.device_batch_speedup = {{1, 1}, {2, 1.5}};
  profile.beliefs = {{"train_speedup@2", 0.2, 0}};
  const double believed_s = *epoch_interval_s(profile, plan);
  profile.workload.device_batch_speedup[1].interval = 1e-6;
  EXPECT_NEAR(*epoch_interval_s(profile, plan), believed_s, 1e-3 * believed_s);
  profile.workload.train_speedup[1].interval = 1e-6;
  EXPECT_LT(*epoch_interval_s(profile, plan), 1e-3 * believed_s);
}

TEST(Uncertainty, IsUnknownWithoutIntervals) {
  const auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, 20, {0.1, 0.02, 0.07, 0.05});
  EXPECT_FALSE(epoch_interval_s(profile, sequential()).has_value());
  EXPECT_EQ(refusal_of(profile), "");
}

// Speed-ups that were moved to another machine are uncertain, too: with all of training on two threads, a
// lower speed-up is a longer training.
TEST(Uncertainty, OfSpeedUps) {
  auto profile = test::profile_of(profiles::DeviceKind::host, 2, 20, {0.1, 0, 0.07, 0.06});
  for (auto* time : {&profile.workload.cpu_batch, &profile.workload.train, &profile.workload.device_batch}) {
    time->interval_s = 1e-9;
  }
  profile.workload.train_speedup = {{1, 1}, {2, 1.5, 0.25}};
  auto plan = sequential();
  plan.device_threads = 2;
  const auto interval = epoch_interval_s(profile, plan);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(*interval, 20 * 0.25 * 0.06 / 1.5, 1e-6);
}

// Of a stage without an interval nothing is known: neither of what depends on it. What is hidden does not
// matter.
TEST(Uncertainty, IsUnknownIfThatOfAStageIs) {
  auto profile = measured_profile();
  profile.workload.train.interval_s = 0;
  EXPECT_FALSE(epoch_interval_s(profile, sequential()).has_value());
  profile.workload.train.interval_s = 0.005;
  profile.workload.device_batch.interval_s = 0;  // not used by the CPU route
  EXPECT_TRUE(epoch_interval_s(profile, sequential()).has_value());
}

TEST(Uncertainty, IncludesTheErrorThatRealRunsShowed) {
  auto profile = measured_profile();
  const double without = epoch_interval_s(profile, sequential()).value();
  profile.prediction_error = 0.1;
  const double epoch_s = 20 * (0.1 + 0.02 + 0.05);
  EXPECT_NEAR(epoch_interval_s(profile, sequential()).value(), std::hypot(without, 1.96 * 0.1 * epoch_s),
              1e-9);
}

// Two plans that do the same one after another have the same errors, whose difference is none. Against a plan
// that prepares on the device, training is common: what differs is the error of preparing.
TEST(Uncertainty, OfADifferenceLeavesOutWhatPlansShare) {
  const auto profile = measured_profile();
  const auto one = epoch_errors(profile, sequential()).value();
  EXPECT_EQ(difference_interval_s(one, one), 0);
  auto plan = sequential();
  plan.route = plan::Route::device;
  plan.workers = 0;
  const auto other = epoch_errors(profile, plan).value();
  EXPECT_NEAR(difference_interval_s(one, other), 20 * std::sqrt(0.01 * 0.01 + 0.002 * 0.002 + 0.03 * 0.03),
              1e-9);
  EXPECT_LT(difference_interval_s(one, other), std::hypot(interval_s(one), interval_s(other)));
  auto checked = profile;
  checked.prediction_error = 0.1;  // each plan's own
  const auto alike = epoch_errors(checked, sequential()).value();
  EXPECT_NEAR(difference_interval_s(alike, alike), std::sqrt(2) * 1.96 * 0.1 * alike.epoch_s, 1e-9);
}

TEST(Uncertainty, RefusesWhatIsWorthless) {
  auto profile = measured_profile();
  EXPECT_EQ(refusal_of(profile), "");
  profile.workload.cpu_batch.interval_s = 0.19;
  EXPECT_EQ(refusal_of(profile), "");
  profile.workload.cpu_batch.interval_s = 1.11;
  profile.workload.cpu_batch.samples = 2;
  EXPECT_THAT(refusal_of(profile),
              testing::AllOf(testing::HasSubstr("p.json"),
                             testing::HasSubstr("CPU preparation took 0.1 s ± 1110 % in 2 "
                                                "samples"),
                             testing::HasSubstr("--time-limit")));
}

}  // namespace
}  // namespace gnomon::sim
