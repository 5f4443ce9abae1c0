#include "tuner/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "base/error.h"
#include "plan/disk_plans.h"
#include "plan/exactness.h"
#include "tests/fixtures/profiles.h"
#include "tuner/tuning_request.h"

namespace gnomon::tuner {
namespace {

using ::testing::HasSubstr;

/// Few batches, so that buffers have few sizes.
profiles::Profile small_profile(profiles::DeviceKind device = profiles::DeviceKind::host) {
  auto profile = test::profile_of(device, 4, 6, {0.04, 0.002, 0.012, 0.02});
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 5e9;
  return profile;
}

/// Plans that do not keep the order of indices are a tenth faster; of the others, those with two workers.
sim::Prediction by_order(const plan::Plan& plan) {
  sim::Prediction prediction;
  const bool in_order = plan::exactness_of(plan) >= plan::Exactness::order;
  prediction.epoch_s = (in_order ? 1.1 : 1.0) + 0.01 * std::abs(plan.workers - 2);
  prediction.lower_bound_s = 0.9;
  prediction.memory.host.batches_bytes = 1e12 * (1 + plan.workers);
  return prediction;
}

EvaluateOn with(const std::function<sim::Prediction(const plan::Plan&)>& predict) {
  return [predict](const profiles::Profile&, const std::vector<plan::Plan>& plans) {
    std::vector<sim::Prediction> predictions;
    for (const auto& plan : plans) {
      predictions.push_back(predict(plan));
    }
    return predictions;
  };
}

TEST(Tune, TakesAPlanWhoseWeightsRepeatAndTellsThePrice) {
  const auto tuning = tune(small_profile(), {}, with(by_order));
  EXPECT_GE(plan::exactness_of(tuning.best().plan), plan::Exactness::order);
  EXPECT_EQ(tuning.best().plan.workers, 2);
  ASSERT_TRUE(tuning.exactness_price);
  EXPECT_NEAR(tuning.exactness_price->share, 0.1, 1e-9);
  EXPECT_EQ(plan::exactness_of(tuning.exactness_price->fastest.plan), plan::Exactness::batches);
  ASSERT_FALSE(tuning.passed_over.empty());
  EXPECT_EQ(tuning.passed_over.front().reason, PassedOverFor::exactness);
  const auto document = to_document(tuning);
  EXPECT_EQ(document["exactness_price"]["required"], "order");
  EXPECT_EQ(document["candidates"][0]["exact"], "bits");
  EXPECT_EQ(document["passed_over"][0]["reason"], "exactness");
}

TEST(Tune, TakesWhatPromisesLessIfAsked) {
  TuningOptions options;
  options.exactness = plan::Exactness::batches;
  const auto tuning = tune(small_profile(), options, with(by_order));
  EXPECT_EQ(plan::exactness_of(tuning.best().plan), plan::Exactness::batches);
  EXPECT_FALSE(tuning.exactness_price) << "nothing promises less";
  EXPECT_TRUE(tuning.less_exact.empty());

  options.approximate = true;
  const auto any = tune(small_profile(), options, with(by_order));
  EXPECT_LT(plan::exactness_of(any.best().plan), plan::Exactness::order);
}

// All that was found before a step failed is still the result.
TEST(Tune, KeepsThePlanWhenALaterStepFails) {
  const auto profile = small_profile();
  const EvaluateOn fails_elsewhere = [&](const profiles::Profile& asked,
                                         const std::vector<plan::Plan>& plans) {
    if (asked.workload.train.mean_s != profile.workload.train.mean_s) {
      throw std::logic_error("no stage runs");
    }
    return with(by_order)(asked, plans);
  };
  std::vector<std::string> taken;
  TuningOptions options;
  options.on_best = [&](const Candidate& best) { taken.push_back(best.plan.name); };
  const auto tuning = tune(profile, options, fails_elsewhere);
  EXPECT_EQ(taken, std::vector<std::string>{tuning.best().plan.name});
  int missing = 0;
  for (const auto& each : tuning.sensitivities) {
    EXPECT_EQ(each.share.has_value(), each.change != "training twice as fast") << each.change;
    missing += each.share ? 0 : 1;
  }
  EXPECT_EQ(missing, 1);
  EXPECT_THAT(to_document(tuning)["sensitivities"].dump(), HasSubstr("no stage runs"));

  // Even if nothing at all can be told of the plan.
  bool is_taken = false;
  options.on_best = [&](const Candidate&) { is_taken = true; };
  const EvaluateOn fails_later = [&](const profiles::Profile& asked, const std::vector<plan::Plan>& plans) {
    if (is_taken) {
      throw base::Failure("disk", "full");
    }
    return with(by_order)(asked, plans);
  };
  options.front = true;
  const auto found = tune(profile, options, fails_later);
  EXPECT_EQ(found.best().plan.name, tuning.best().plan.name);
  ASSERT_EQ(found.failures.size(), 1U);
  EXPECT_THAT(found.failures.front(), HasSubstr("the plans that no other beats: disk: full"));
  for (const auto& each : found.sensitivities) {
    EXPECT_EQ(each.why_not, "disk: full");
  }
}

/// 10 GB of features and 1 GB of topology, on a machine with 64 GB of memory and a disk.
profiles::Profile profile_on_disk() {
  auto profile = small_profile();
  profile.machine.cpu.memory_bytes = 6.4e10;
  profile.machine.disk = {.bandwidth_bytes_per_s = 2e9, .random_reads_per_s = 4e5};
  auto& workload = profile.workload;
  workload.batches = 12;
  workload.vertices = 20'000'000;
  workload.edges = 200'000'000;
  workload.feature_columns = 125;
  workload.feature_row_bytes = 500;
  workload.train_vertices = 12'000;
  workload.batch_vertices = 20'000;
  workload.batch_edges = 60'000;
  workload.batch_bytes = 1.1e7;
  workload.features.skew = workload.topology.skew = 0.6;
  return profile;
}

TEST(Tune, FindsPlansThatReadTheDiskWithinALimitOfTheHostsMemory) {
  const auto profile = profile_on_disk();
  TuningOptions unlimited;
  unlimited.budget = Budget{.evaluations = 25};
  EXPECT_FALSE(plan::reads_disk(tune(profile, unlimited).best().plan)) << "everything fits";
  for (const double limit : {8e9, 4e9}) {
    auto options = unlimited;
    options.limits.host_bytes = limit;
    const auto tuning = tune(profile, options);
    const auto& best = tuning.best();
    EXPECT_TRUE(plan::reads_disk(best.plan)) << base::to_document(best.plan);
    EXPECT_GE(plan::exactness_of(best.plan), plan::Exactness::order);
    std::set<std::string> names;
    for (const auto& candidate : tuning.candidates) {
      names.insert(candidate.plan.name);
      EXPECT_TRUE(std::isfinite(candidate.prediction.epoch_s)) << candidate.plan.name;
      EXPECT_LE(candidate.prediction.memory.host_peak_bytes(), limit * 1.000001) << candidate.plan.name;
    }
    EXPECT_TRUE(names.contains("ns-ext"));
    EXPECT_TRUE(names.contains("ginex"));
    // A smaller cache than the machine's memory would allow, but not none.
    EXPECT_GT(best.prediction.memory.host.cache_bytes, limit / 4);
  }
}

TEST(Tune, SearchesTheDiskOnlyIfItsSpeedIsKnownAndTheJobAllows) {
  auto profile = profile_on_disk();
  const auto topology_on_disk = [&] {
    const auto space = make_space(request_of(profile, {}, std::nullopt));
    const auto points = space.family_starts();
    return std::any_of(points.begin(), points.end(),
                       [&](const Point& point) { return space.plan_at(point).topology == plan::Home::disk; });
  };
  EXPECT_TRUE(topology_on_disk());
  profile.workload.job.weighted = true;
  EXPECT_FALSE(topology_on_disk());
  profile.workload.job.weighted = false;
  profile.machine.disk = {};
  EXPECT_FALSE(topology_on_disk());
}

TEST(Tune, ExhaustiveMeansEveryPlanUnlessABudgetIsGiven) {
  TuningOptions options;
  options.strategy = StrategyKind::exhaustive;
  const auto all = tune(small_profile(), options, with(by_order));
  EXPECT_EQ(all.found.stopped_by, "strategy");
  EXPECT_GT(all.plans, 100);
  const auto space = make_space(request_of(small_profile(), with_less_exact(options), std::nullopt));
  EXPECT_EQ(all.plans, space.size());
  std::int64_t possible = 0;
  for (std::int64_t number = 0; number < space.size(); ++number) {
    possible += space.is_feasible(space.at(number)) ? 1 : 0;
  }
  EXPECT_EQ(std::ssize(all.found.evaluated), possible);

  options.budget = Budget{.evaluations = 30};
  const auto some = tune(small_profile(), options, with(by_order));
  EXPECT_EQ(some.found.stopped_by, "evaluations");
  EXPECT_EQ(some.found.evaluated.size(), 30U);
}

TEST(Tune, QuestionsSlowdownsThatAreGains) {
  auto profile = small_profile();
  profile.machine.contention.crowded_team = 0.53;
  const auto tuning = tune(profile, {}, with(by_order));
  ASSERT_EQ(tuning.questionable.size(), 1U);
  EXPECT_EQ(to_document(tuning)["questionable"]["crowded_team"], 0.53);
}

}  // namespace
}  // namespace gnomon::tuner
