#include "tuner/evidence/measurement_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/exactness.h"
#include "profiles/beliefs.h"
#include "tests/fixtures/profiles.h"
#include "tuner/evidence/contenders.h"

namespace gnomon::tuner {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

/// Training takes longest, and what two threads do of it was never measured.
profiles::Profile believed_profile() {
  auto profile = test::profile_of(profiles::DeviceKind::host, 2, 30, {0.006, 0, 0.004, 0.03});
  profiles::add_beliefs(profile);
  return profile;
}

std::vector<profiles::Measurement> measurements() {
  return {{"the stages alone", {"cpu_batch", "device_batch", "train"}, 0.05, 1},
          {"the last mini-batch", {}, 0.01, 0},
          {"2 workers", {"worker_efficiency@2"}, 0.03, 0},
          {"2 device threads", {"train_speedup@2", "device_batch_speedup@2"}, 0.06, 0}};
}

/// As if everything had been measured well.
profiles::Profile certain(profiles::Profile profile) {
  for (auto& belief : profile.beliefs) {
    belief.deviation = 1e-3;
    belief.samples = 1000;
  }
  return profile;
}

TEST(MeasurementChoice, MeasuresWhatDecides) {
  MeasurementChoice choice({}, 0.01);
  const auto chosen = choice(believed_profile(), measurements(), 10);
  EXPECT_THAT(chosen, Contains(3U)) << "two threads that train";
  EXPECT_THAT(chosen, Not(Contains(1U))) << "no plan gains by it";
  EXPECT_GT(choice.relative_regret(), 0.01);
}

TEST(MeasurementChoice, EndsWhenTheChoiceIsCertain) {
  MeasurementChoice choice({}, 0.01);
  EXPECT_THAT(choice(certain(believed_profile()), measurements(), 10), IsEmpty());
  EXPECT_LT(choice.relative_regret(), 0.01);
}

TEST(MeasurementChoice, LeavesOutWhatThereIsNoTimeFor) {
  MeasurementChoice choice({}, 0.01);
  EXPECT_THAT(choice(believed_profile(), measurements(), 0.05), Not(Contains(3U)));
}

TEST(MeasurementChoice, AtRandomTakesTheStagesAloneAndAnyOthers) {
  MeasurementChoice choice({}, 0.01, MeasureOrder::random);
  std::vector<int> taken(4);
  for (int round = 0; round < 200; ++round) {
    for (const std::size_t chosen : choice(believed_profile(), measurements(), 10)) {
      ++taken.at(chosen);
    }
  }
  EXPECT_EQ(taken[0], 200);
  for (std::size_t i = 1; i < taken.size(); ++i) {
    EXPECT_NEAR(taken[i], 100, 35);  // five standard deviations
  }
}

TEST(MeasurementChoice, EndsWhereNoPlanFits) {
  TuningOptions options;
  options.limits.host_bytes = 1;
  auto profile = believed_profile();
  profile.workload.vertices = 1'000'000;
  EXPECT_THAT(contenders(profile, options), IsEmpty());
  MeasurementChoice choice(options, 0.01);
  EXPECT_THAT(choice(profile, measurements(), 10), IsEmpty());
  EXPECT_EQ(choice.relative_regret(), 0);
}

TEST(InformedBy, ASampleLeavesWhatTwoNormalsLeave) {
  auto profile = believed_profile();
  const auto informed = informed_by(measurements()[2], profile);
  ASSERT_EQ(informed.size(), 1U);
  const auto& belief = profile.beliefs[informed[0].belief];
  EXPECT_EQ(belief.of, "worker_efficiency@2");
  const double precision =
      1 / (belief.deviation * belief.deviation) + 1 / (profiles::round_deviation * profiles::round_deviation);
  EXPECT_NEAR(informed[0].left * belief.deviation, 1 / std::sqrt(precision), 1e-12);
}

TEST(Contenders, HoldPlansThatOnlyUnmeasuredNumbersMakeFast) {
  auto profile = believed_profile();
  // Believed to gain nothing by threads, but uncertain.
  for (auto* points : {&profile.workload.train_speedup, &profile.workload.device_batch_speedup}) {
    points->back().value = 1.0;
  }
  const auto trains_on_two = [](const plan::Plan& plan) { return plan.device_threads == 2; };
  const auto found = contenders(profile, {});
  EXPECT_TRUE(std::ranges::any_of(found, trains_on_two));
  EXPECT_TRUE(std::ranges::all_of(
      found, [](const plan::Plan& plan) { return plan::exactness_of(plan) >= plan::Exactness::order; }));
  EXPECT_LE(found.size(), 12U);
}

}  // namespace
}  // namespace gnomon::tuner
