#include "tuner/verify/correction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/predict.h"
#include "tests/fixtures/profiles.h"

namespace gnomon::tuner {
namespace {

profiles::Profile true_profile() {
  auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, 300, {0.04, 0.004, 0.025, 0.02});
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 5e9;
  profile.machine.contention.cpu_batch_beside_train = 1.2;
  profile.machine.contention.train_beside_cpu_batch = 1.1;
  profile.machine.contention.train_beside_transfer = 1.05;
  auto& workload = profile.workload;
  workload.batch_bytes = 5e6;
  workload.cpu_batch.deviation_s = 0.006;
  workload.transfer.deviation_s = 0.0004;
  workload.device_batch.deviation_s = 0.003;
  workload.device_batch_link_s = 0.01;
  workload.train.deviation_s = 0.002;
  return profile;
}

/// The factors by which wrong_profile is wrong: the truth over what it says.
constexpr double cpu_batch_factor = 1.5;
constexpr double transfer_factor = 0.8;
constexpr double device_batch_factor = 1.15;
constexpr double train_factor = 0.75;

void scale(profiles::StageTime& time, double factor) {
  time.mean_s *= factor;
  time.deviation_s *= factor;
}

profiles::Profile wrong_profile() {
  auto profile = true_profile();
  scale(profile.workload.cpu_batch, 1 / cpu_batch_factor);
  scale(profile.workload.transfer, 1 / transfer_factor);
  scale(profile.workload.device_batch, 1 / device_batch_factor);
  profile.workload.device_batch_link_s /= device_batch_factor;
  scale(profile.workload.train, 1 / train_factor);
  return profile;
}

/// What the true machine does, with other batches than the simulator draws when it predicts.
RealRun real_run(sim::Simulator& simulator, const char* preset, std::int64_t batches, std::uint64_t seed) {
  auto profile = true_profile();
  profile.workload.batches = batches;
  const auto plan = sim::resolve_on(profile, plan::find_plan(preset));
  return {plan, batches, sim::predict(simulator, profile, plan, true, seed).timeline};
}

TEST(Correction, FindsTheFactorsByWhichAProfileIsWrong) {
  sim::Simulator simulator;
  const std::vector<RealRun> runs = {real_run(simulator, "gnomon", 120, 1),
                                     real_run(simulator, "salient", 120, 2),
                                     real_run(simulator, "device", 120, 3)};
  const auto corrections = corrections_by(runs, wrong_profile(), simulator);
  const auto expect = [](const std::optional<profiles::Correction>& found, double factor) {
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->ratio, factor, 0.02 * factor);
    EXPECT_GT(found->standard_error, 0);
    EXPECT_LT(found->standard_error, 0.05);
    EXPECT_GE(found->batches, 120);
  };
  expect(corrections.cpu_batch, cpu_batch_factor);
  expect(corrections.transfer, transfer_factor);
  expect(corrections.device_batch, device_batch_factor);
  expect(corrections.train, train_factor);
}

TEST(Correction, PredictionsAreRightAfterIt) {
  sim::Simulator simulator;
  auto profile = wrong_profile();
  profile.corrections = corrections_by(
      {real_run(simulator, "pyg", 120, 4), real_run(simulator, "device", 120, 5)}, profile, simulator);
  double before = 0;
  for (const char* preset : {"salient", "morphgl", "gnomon", "dgl", "dgl-uva"}) {
    const auto plan = plan::find_plan(preset);
    const double truth_s = sim::predict(simulator, true_profile(), plan).epoch_s;
    EXPECT_NEAR(sim::predict(simulator, profile, plan).epoch_s, truth_s, 0.02 * truth_s) << preset;
    EXPECT_NEAR(sim::predict_quickly(profile, plan).epoch_s, truth_s, 0.05 * truth_s) << preset;
    before = std::max(before, std::abs(sim::predict(simulator, wrong_profile(), plan).epoch_s / truth_s - 1));
  }
  EXPECT_GT(before, 0.1) << "the wrong profile was not wrong enough to tell";
}

TEST(Correction, IsSurerWithMoreBatches) {
  sim::Simulator simulator;
  const auto error_of = [&](std::int64_t batches) {
    return corrections_by({real_run(simulator, "salient", batches, 6)}, wrong_profile(), simulator)
        .cpu_batch->standard_error;
  };
  const double few = error_of(25);
  const double many = error_of(400);
  EXPECT_LT(many, few / 2.5) << "a fourth is expected";
  EXPECT_GT(many, few / 7);
}

TEST(Correction, ItsErrorCoversTheTruth) {
  sim::Simulator simulator;
  int covered = 0;
  for (std::uint64_t seed = 10; seed < 110; ++seed) {
    const auto found =
        corrections_by({real_run(simulator, "salient", 40, seed)}, wrong_profile(), simulator).cpu_batch;
    covered += std::abs(found->ratio - cpu_batch_factor) < 2 * found->standard_error ? 1 : 0;
  }
  EXPECT_GE(covered, 88) << "of 100 seeds from 10 on; 95 are expected";
}

TEST(Correction, SaysNothingOfStagesThatDidNotRun) {
  sim::Simulator simulator;
  const auto corrections = corrections_by({real_run(simulator, "device", 30, 7)}, wrong_profile(), simulator);
  EXPECT_FALSE(corrections.cpu_batch.has_value());
  EXPECT_FALSE(corrections.transfer.has_value());
  EXPECT_TRUE(corrections.device_batch.has_value());
  EXPECT_TRUE(corrections.train.has_value());
}

// Ten batches took a thousand times as long as they should, ninety others a thousandth.
TEST(Correction, RunsThatContradictEachOtherGiveNone) {
  sim::Simulator simulator;
  std::vector<RealRun> runs = {real_run(simulator, "device", 10, 1), real_run(simulator, "device", 90, 2)};
  const auto scale_training = [](RealRun& run, double factor) {
    for (auto& span : run.timeline) {
      if (span.stage == schedule::Stage::train) {
        span.end_s = span.begin_s + factor * (span.end_s - span.begin_s);
      }
    }
  };
  scale_training(runs[0], 1e3);
  scale_training(runs[1], 1e-3);
  auto profile = wrong_profile();
  profile.corrections = corrections_by(runs, profile, simulator);
  EXPECT_FALSE(profile.corrections->train.has_value());
  EXPECT_TRUE(profile.corrections->device_batch.has_value());
  EXPECT_NO_THROW(profiles::check(profile, "profile"));
}

TEST(Correction, FactorsBeyondWhatDocumentsHoldAreNone) {
  sim::Simulator simulator;
  const std::vector<RealRun> runs = {real_run(simulator, "salient", 120, 1)};
  for (const double factor : {150.0, 1 / 150.0}) {
    auto profile = true_profile();
    scale(profile.workload.cpu_batch, factor);
    const auto corrections = corrections_by(runs, profile, simulator);
    EXPECT_FALSE(corrections.cpu_batch) << factor;
    EXPECT_TRUE(corrections.train);
  }
}

TEST(Correction, DoesNotBuildOnAnOlderOne) {
  sim::Simulator simulator;
  auto profile = wrong_profile();
  const std::vector<RealRun> runs = {real_run(simulator, "salient", 60, 8)};
  const auto first = corrections_by(runs, profile, simulator);
  profile.corrections = first;
  const auto second = corrections_by(runs, profile, simulator);
  EXPECT_EQ(second.train->ratio, first.train->ratio);
}

}  // namespace
}  // namespace gnomon::tuner
