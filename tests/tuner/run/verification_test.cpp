#include "tuner/run/verification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "sim/predict.h"
#include "tests/fixtures/profiles.h"
#include "tuner/sensitivity.h"
#include "tuner/tune.h"

namespace gnomon::tuner {
namespace {

constexpr std::int64_t batches_of_epoch = 400;

profiles::Profile profile_of_gpu(double cpu_batch_s) {
  return test::profile_of(profiles::DeviceKind::cuda, 8, batches_of_epoch, {cpu_batch_s, 0.001, 0.03, 0.006});
}

constexpr double profiled_s = 0.02;

const Tuning& tuning_of_profile() {
  static const auto tuning = [] {
    TuningOptions options;
    options.budget = Budget{.evaluations = 60};
    return tune(profile_of_gpu(profiled_s), options);
  }();
  return tuning;
}

/// Lets a verification train on a simulated machine of another profile until its plan is chosen. Returns the
/// mini-batches of that.
std::int64_t verify(Verification& verification, const profiles::Profile& truth) {
  sim::Simulator simulator;
  std::int64_t trained = 0;
  while (!verification.is_over() && trained < 100 * batches_of_epoch) {
    runtime::StretchReport report;
    report.stretch = verification.next_stretch(batches_of_epoch);
    auto told = sim::predict(simulator, shortened(truth, report.stretch.batches), report.stretch.plan, true);
    report.log.end_s = told.epoch_s;
    report.timeline = std::move(told.timeline);
    verification.on_stretch(report);
    trained += report.stretch.batches;
  }
  return trained;
}

double epoch_s(const plan::Plan& plan, const profiles::Profile& truth) {
  sim::Simulator simulator;
  return sim::predict(simulator, truth, plan).epoch_s;
}

/// Of all plans that could be verified.
double least_epoch_s(const profiles::Profile& truth) {
  double least_s = std::numeric_limits<double>::infinity();
  for (const auto& plan : plans_to_verify(tuning_of_profile(), profiles::cores_of(truth))) {
    least_s = std::min(least_s, epoch_s(plan, truth));
  }
  return least_s;
}

plan::Job job_of(int epochs) {
  plan::Job job;
  job.epochs = epochs;
  return job;
}

TEST(Verification, FindsAnotherKindOfPlanWhereAllThatWereRunAreMispredictedAlike) {
  const auto profile = profile_of_gpu(profiled_s);
  const auto truth = profile_of_gpu(50 * profiled_s);
  sim::Simulator simulator;
  Verification verification(profile, tuning_of_profile(), job_of(200), simulator);
  const auto first = verification.result();
  ASSERT_TRUE(std::all_of(first.plans.begin(), first.plans.end(), [](const VerifiedPlan& verified) {
    return verified.plan.uses_cpu_route();
  })) << "else one race finds it";
  const auto trained = verify(verification, truth);
  const auto result = verification.result();
  EXPECT_LT(epoch_s(verification.best(), truth), 1.02 * least_epoch_s(truth)) << verification.best().name;
  EXPECT_EQ(result.plans.front().plan, verification.best());
  EXPECT_GT(result.plans.size(), first.plans.size());
  EXPECT_EQ(result.batches, trained) << "of both races";
  EXPECT_LT(result.extra_s, 0.5 * 200 * epoch_s(verification.best(), truth));
}

TEST(Verification, RunsNoOtherPlansWhereThePredictionsAreRight) {
  const auto profile = profile_of_gpu(profiled_s);
  sim::Simulator simulator;
  Verification verification(profile, tuning_of_profile(), job_of(200), simulator);
  const auto before = verification.result().plans.size();
  verify(verification, profile);
  EXPECT_EQ(verification.result().plans.size(), before);
}

TEST(Verification, RunsNothingInATrainingThatIsTooShort) {
  const auto profile = profile_of_gpu(profiled_s);
  sim::Simulator simulator;
  const Verification verification(profile, tuning_of_profile(), job_of(1), simulator);
  EXPECT_TRUE(verification.is_over());
  EXPECT_EQ(verification.result().turns, 0);
}

}  // namespace
}  // namespace gnomon::tuner
