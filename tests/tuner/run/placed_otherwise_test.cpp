#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "base/error.h"
#include "plan/exactness.h"
#include "tests/fixtures/profiles.h"
#include "tuner/run/turns.h"
#include "tuner/run/verification.h"
#include "tuner/tune.h"

namespace gnomon::tuner {
namespace {

using plan::Pinning;
using plan::Placement;

using Choice = std::pair<Placement, Pinning>;

std::set<Choice> choices_of(const std::vector<plan::Plan>& plans) {
  std::set<Choice> choices;
  for (const auto& plan : plans) {
    choices.insert({plan.placement, plan.pinning});
  }
  return choices;
}

TEST(PlacedOtherwise, HasAllOtherChoicesOfAPlanWithWorkers) {
  const plan::Cores cores{8, plan::DeviceKind::host};
  const auto plan = plan::resolve(plan::find_plan("gnomon"), cores, "test");
  ASSERT_EQ(choices_of({plan}), (std::set<Choice>{{Placement::first_touch, Pinning::none}}));
  const auto placed = placed_otherwise(plan, cores);
  EXPECT_EQ(choices_of(placed), (std::set<Choice>{{Placement::first_touch, Pinning::cores},
                                                  {Placement::interleave, Pinning::none},
                                                  {Placement::interleave, Pinning::cores}}));
  for (const auto& each : placed) {
    EXPECT_EQ(key_of(each), key_of(plan));
    EXPECT_EQ(plan::exactness_of(each), plan::exactness_of(plan));
    EXPECT_NE(each.name, plan.name);
    plan::check(each, each.name);
  }
}

TEST(PlacedOtherwise, PinsNoWorkersWhereThereAreNone) {
  const plan::Cores cores{8, plan::DeviceKind::host};
  const auto plan = plan::resolve(plan::find_plan("device"), cores, "test");
  EXPECT_EQ(choices_of(placed_otherwise(plan, cores)),
            (std::set<Choice>{{Placement::interleave, Pinning::none}}));
}

TEST(EntrantsOf, HaveTurnsThatUseAllSlotsTwiceBehindALink) {
  auto plan = plan::resolve(plan::find_plan("salient"), {8, plan::DeviceKind::cuda}, "test");
  plan.cpu_buffer = 9;
  const auto turn = [&](plan::DeviceKind device, std::int64_t batches) {
    const auto profile = test::profile_of(device, 8, batches, {0.02, 0.001, 0.02, 0.03});
    sim::Simulator simulator;
    std::int64_t turn_batches = 1;
    entrants_of({plan}, profile, simulator, turn_batches);
    return turn_batches;
  };
  EXPECT_GE(turn(plan::DeviceKind::cuda, 400), 2 * (plan.workers + 9 + 2 + 1));
  EXPECT_EQ(turn(plan::DeviceKind::cuda, 20), 20) << "an epoch";
}

/// The plans that a verification on a machine with so many nodes runs for real.
std::vector<plan::Plan> entrants_on(const std::vector<int>& node_cores) {
  auto profile = test::profile_of(profiles::DeviceKind::host, 8, 400, {0.02, 0, 0.02, 0.03});
  profile.machine.cpu.node_cores = node_cores;
  TuningOptions options;
  options.budget = Budget{.evaluations = 30};
  const auto tuning = tune(profile, options);
  sim::Simulator simulator;
  const Verification verification(profile, tuning, plan::Job{}, simulator);
  std::vector<plan::Plan> plans;
  for (const auto& verified : verification.result().plans) {
    plans.push_back(verified.plan);
  }
  return plans;
}

TEST(Verification, RunsTheBestPlanInOtherPlacementsWhereMemoryHasSeveralNodes) {
  const std::set<Choice> only{{Placement::first_touch, Pinning::none}};
  EXPECT_EQ(choices_of(entrants_on({8})), only);
  EXPECT_EQ(choices_of(entrants_on({})), only);
  const auto plans = entrants_on({4, 4});
  EXPECT_THAT(choices_of(plans), testing::Contains(Choice{Placement::interleave, Pinning::none}));
  EXPECT_LE(plans.size(), 8U);
}

}  // namespace
}  // namespace gnomon::tuner
