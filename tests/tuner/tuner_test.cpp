#include "tuner/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tuner/choices.h"
#include "tuner/space.h"

namespace gnomon::tuner {
namespace {

using testing::ElementsAre;

profiles::Profile profile_of(profiles::DeviceKind device, int cores) {
  profiles::Profile profile;
  profile.machine.cpu.cores = cores;
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 5e9;
  profile.machine.device.kind = device;
  auto& workload = profile.workload;
  workload.batches = 60;
  workload.batch_bytes = 5e6;
  workload.cpu_batch = {.mean_s = 0.04, .deviation_s = 0.006};
  workload.transfer = {.mean_s = 0.002, .deviation_s = 0.0001};
  workload.device_batch = {.mean_s = 0.012, .deviation_s = 0.002};
  workload.train = {.mean_s = 0.02, .deviation_s = 0.001};
  workload.worker_efficiency = {{1, 1}, {4, 0.8}};
  workload.train_speedup = {{1, 1}, {2, 1.7}, {4, 2.5}};
  workload.device_batch_speedup = {{1, 1}, {4, 3}};
  return profile;
}

TEST(Space, Workers) {
  EXPECT_THAT(worker_choices(1), ElementsAre(1));
  EXPECT_THAT(worker_choices(4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(worker_choices(20), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20));
}

TEST(Space, DeviceThreads) {
  EXPECT_THAT(thread_choices({1, true}), ElementsAre(1));
  EXPECT_THAT(thread_choices({6, true}), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(thread_choices({8, true}), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(thread_choices({8, false}), ElementsAre(1));
}

TEST(Space, HoldsValidPlansOnceEach) {
  for (const auto& preset : plan::runnable_presets()) {
    const auto plans = choices(preset, {3, true});
    ASSERT_FALSE(plans.empty());
    for (std::size_t i = 0; i < plans.size(); ++i) {
      EXPECT_NO_THROW(plan::resolve(plans[i], {3, true}, "plan"));
      EXPECT_EQ(std::count(plans.begin(), plans.end(), plans[i]), 1);
      EXPECT_TRUE(i == 0 || resources(plans[i - 1]) <= resources(plans[i]));
    }
  }
}

TEST(Space, IsNotSearchedWhereAScheduleHasNoChoice) {
  EXPECT_EQ(choices(plan::find_plan("device"), {8, false}).size(), 1U);
  EXPECT_EQ(choices(plan::find_plan("device"), {8, true}).size(), 4U);    // threads 1, 2, 4, 8
  EXPECT_EQ(choices(plan::find_plan("morphgl"), {8, false}).size(), 8U);  // workers
}

/// The best of each preset without pruning, stages or shortcuts.
std::vector<Candidate> brute_force(const profiles::Profile& profile, const Evaluate& evaluate) {
  const plan::Cores cores{profile.machine.cpu.cores,
                          profile.machine.device.kind == profiles::DeviceKind::host};
  std::vector<Candidate> best;
  for (const auto& preset : plan::runnable_presets()) {
    std::vector<Candidate> all;
    for (const auto& plan : choices(preset, cores)) {
      all.push_back(plan.schedule == plan::Schedule::dual_buffer ? dispatch(profile, plan, evaluate).best
                                                                 : Candidate{plan, evaluate(plan)});
    }
    best.push_back(*std::min_element(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
      return a.prediction.epoch_s < b.prediction.epoch_s;
    }));
  }
  return best;
}

TEST(Tune, FindsWhatBruteForceFinds) {
  sim::Simulator simulator;
  for (const auto device : {profiles::DeviceKind::host, profiles::DeviceKind::cuda}) {
    const auto profile = profile_of(device, 2);
    const Evaluate evaluate = [&](const plan::Plan& plan) { return sim::predict(simulator, profile, plan); };
    const auto expected = brute_force(profile, evaluate);
    const auto found = tune(profile, evaluate, {});
    ASSERT_EQ(found.candidates.size(), expected.size());
    for (const Candidate& candidate : found.candidates) {
      const auto same = std::find_if(expected.begin(), expected.end(), [&](const Candidate& other) {
        return other.plan.name == candidate.plan.name;
      });
      ASSERT_NE(same, expected.end());
      EXPECT_EQ(candidate.prediction.epoch_s, same->prediction.epoch_s) << candidate.plan.name;
      EXPECT_EQ(candidate.plan, same->plan)
          << base::to_document(candidate.plan) << base::to_document(same->plan);
    }
    EXPECT_EQ(found.best.plan, found.candidates.front().plan);
    EXPECT_TRUE(std::is_sorted(
        found.candidates.begin(), found.candidates.end(),
        [](const Candidate& a, const Candidate& b) { return a.prediction.epoch_s < b.prediction.epoch_s; }));
    EXPECT_FALSE(found.dispatcher.stopped_by.empty());
  }
}

TEST(Tune, TakesFewerResourcesAmongEqualPlans) {
  const auto profile = profile_of(profiles::DeviceKind::host, 4);
  const auto found = tune(profile,
                          [](const plan::Plan&) {
                            sim::Prediction prediction;
                            prediction.epoch_s = 1e6;
                            return prediction;
                          },
                          {});
  for (const Candidate& candidate : found.candidates) {
    EXPECT_LE(candidate.plan.workers, 1) << candidate.plan.name;
    EXPECT_EQ(candidate.plan.device_threads, 1) << candidate.plan.name;
  }
  EXPECT_EQ(found.best.plan.name, "device");  // one thread and no worker
}

TEST(Tune, EvaluatesFarLessThanALargeSpace) {
  const auto profile = profile_of(profiles::DeviceKind::host, 64);
  std::size_t space = 0;
  for (const auto& preset : plan::runnable_presets()) {
    space += choices(preset, {64, true}).size();
  }
  sim::Simulator simulator;
  std::set<std::string> told;
  const auto found = tune(
      profile, [&](const plan::Plan& plan) { return sim::predict(simulator, profile, plan); },
      [&](std::string_view what, std::int64_t done, std::int64_t total) {
        told.insert(std::string(what));
        EXPECT_LE(done, total);
      });
  EXPECT_LT(found.evaluations, 2500);
  EXPECT_GT(space, 20000U);
  EXPECT_EQ(told.size(), plan::runnable_presets().size());
}

}  // namespace
}  // namespace gnomon::tuner
