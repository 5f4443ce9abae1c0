#include "tuner/history/outcomes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "sim/predict.h"
#include "tests/fixtures/keyed_machine.h"
#include "tests/fixtures/profiles.h"

namespace gnomon::tuner {
namespace {

profiles::Profile profile_with(double train_s) {
  auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, 50, {0.04, 0.004, 0.025, train_s});
  profile.workload.graph = "small";
  profile.workload.vertices = 1000;
  profile.workload.edges = 9000;
  profile.workload.job.fanouts = {5, 5};
  profile.workload.batch_vertices = 300;
  return profile;
}

RealRun run_of(const profiles::Profile& truth, const char* preset, sim::Simulator& simulator) {
  const auto plan = sim::resolve_on(truth, plan::find_plan(preset));
  return {plan, truth.workload.batches, sim::predict(simulator, truth, plan, true).timeline};
}

// Training takes 1.5 times as long as the profile says, and nothing else does.
TEST(Outcomes, HoldMeasuredOverPredictedStages) {
  sim::Simulator simulator;
  const auto truth = profile_with(0.03);
  auto profile = profile_with(0.02);
  // Corrections are no part of what is learned from.
  profile.corrections.emplace().train = profiles::Correction{.ratio = 3, .batches = 2};
  profile.learned.emplace().regimes.push_back(
      {plan::regime_of(run_of(truth, "salient", simulator).plan, profiles::cores_of(profile)),
       {.train = profiles::Correction{.ratio = 2, .batches = 2}}});
  const auto outcomes = outcomes_of({run_of(truth, "salient", simulator), run_of(truth, "salient", simulator),
                                     run_of(truth, "device", simulator)},
                                    profile, test::some_key(), simulator);
  EXPECT_EQ(outcomes.graph, "small, 1000 vertices, 9000 edges");
  EXPECT_EQ(outcomes.device, plan::DeviceKind::cuda);
  EXPECT_EQ(outcomes.machine, test::some_key());
  ASSERT_EQ(outcomes.plans.size(), 2U);
  for (const auto& of_plan : outcomes.plans) {
    ASSERT_TRUE(of_plan.stages.train.has_value()) << of_plan.plan;
    EXPECT_NEAR(of_plan.stages.train->ratio, 1.5, 0.02) << of_plan.plan;
  }
  EXPECT_EQ(outcomes.plans[0].plan, "salient");
  EXPECT_EQ(outcomes.plans[0].stages.train->batches, 100);
  EXPECT_NEAR(outcomes.plans[0].stages.cpu_batch->ratio, 1, 0.02);
  EXPECT_EQ(outcomes.plans[1].regime.route, plan::Route::device);
}

TEST(Outcomes, ADocumentHoldsThem) {
  sim::Simulator simulator;
  const auto profile = profile_with(0.02);
  const auto outcomes =
      outcomes_of({run_of(profile, "salient", simulator)}, profile, test::some_key(), simulator);
  const auto document = base::to_document(outcomes);
  auto read = base::from_document<Outcomes>(document, "h.json");
  EXPECT_EQ(base::to_document(read), document);
  EXPECT_NO_THROW(check(read, "h.json"));
  read.values.pop_back();
  EXPECT_THROW(check(read, "h.json"), base::InputError);
}

}  // namespace
}  // namespace gnomon::tuner
