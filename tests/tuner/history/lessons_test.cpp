#include "tuner/history/lessons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "tests/fixtures/keyed_machine.h"
#include "tests/fixtures/profiles.h"
#include "tuner/surrogate/learned.h"

namespace gnomon::tuner {
namespace {

using plan::DeviceKind;
using ::testing::IsEmpty;

profiles::Profile profile_of_graph(int graph) {
  auto profile = test::profile_of(DeviceKind::host, 4, 50, {0.04, 0, 0.04, 0.02 + 0.001 * graph});
  profile.workload.graph = "graph" + std::to_string(graph);
  profile.workload.vertices = 1000 * (graph + 1);
  profile.workload.edges = 9000 * (graph + 1);
  profile.workload.job.fanouts = {5, 5};
  profile.workload.batch_vertices = 300 + 10 * graph;
  return profile;
}

constexpr plan::Regime calm{.route = plan::Route::cpu};
constexpr plan::Regime crowded{.route = plan::Route::cpu, .is_crowded = true};

/// Runs of two plans on each of `graphs` graphs; training takes exp(log_ratio(regime)) as long as predicted.
std::vector<Outcomes> history_of(int graphs, int runs, std::mt19937& random, double noise,
                                 const std::function<double(const plan::Regime&)>& log_ratio) {
  std::normal_distribution<double> error(0, noise);
  std::vector<Outcomes> history;
  for (int graph = 0; graph < graphs; ++graph) {
    for (int run = 0; run < runs; ++run) {
      const auto profile = profile_of_graph(graph);
      Outcomes outcomes{.machine = test::some_key(), .graph = graph_of(profile.workload)};
      for (const auto& [name, value] : workload_inputs(profile)) {
        outcomes.inputs.push_back(name);
        outcomes.values.push_back(value);
      }
      for (const auto& regime : {calm, crowded}) {
        const double ratio = std::exp(log_ratio(regime) + error(random));
        outcomes.plans.push_back({"p", regime, {.train = profiles::Correction{ratio, 0.01 * ratio, 50}}});
      }
      history.push_back(std::move(outcomes));
    }
  }
  return history;
}

double slower_if_crowded(const plan::Regime& regime) { return regime.is_crowded ? 0.3 : 0; }

// What is 1.35 times as long on all graphs is so on another graph.
TEST(Lessons, ALastingErrorIsCorrectedOnAnotherGraph) {
  std::mt19937 random(1);
  const auto history = history_of(8, 2, random, 0.03, slower_if_crowded);
  const auto lessons = lessons_of(history, test::some_key(), DeviceKind::host);
  ASSERT_EQ(lessons.size(), 1U);
  EXPECT_EQ(lessons[0].stage, "train");
  EXPECT_EQ(lessons[0].rows, 32);
  EXPECT_EQ(lessons[0].groups, 8);
  EXPECT_NEAR(lessons[0].error_before, 0.3 / std::sqrt(2), 0.03);
  EXPECT_LT(lessons[0].error_after, 0.08);
  EXPECT_TRUE(lessons[0].helps);
  const auto learned = learned_corrections(history, test::some_key(), profile_of_graph(20));
  ASSERT_TRUE(learned.has_value());
  ASSERT_NE(learned->of(crowded), nullptr);
  EXPECT_NEAR(learned->of(crowded)->train->ratio, std::exp(0.3), 0.1) << "shrunk towards 1";
  EXPECT_NEAR(learned->of(calm)->train->ratio, 1, 0.05);
  EXPECT_LT(learned->of(calm)->train->standard_error, 0.1);
  EXPECT_FALSE(learned->of(calm)->cpu_batch.has_value());
  EXPECT_EQ(learned->of({.route = plan::Route::device}), nullptr) << "no run was in this regime";
}

// Errors by chance must not be learned: the test for a gain has 2.5 % of false alarms at most.
TEST(Lessons, ChanceTeachesNothing) {
  int alarms = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    const auto history = history_of(7, 1, random, 0.1, [](const plan::Regime&) { return 0.0; });
    const auto lessons = lessons_of(history, test::some_key(), DeviceKind::host);
    alarms += lessons.at(0).helps ? 1 : 0;
  }
  EXPECT_LE(alarms, 5) << "of 60 seeds from 1 on; at most 1.5 are expected";
}

TEST(Lessons, AreJudgedByRunsOnThisMachineAndDeviceOnly) {
  std::mt19937 random(2);
  auto history = history_of(8, 1, random, 0.03, slower_if_crowded);
  for (auto& outcomes : history) {
    outcomes.machine.cpu = "another";
  }
  EXPECT_THAT(lessons_of(history, test::some_key(), DeviceKind::host), IsEmpty());
  EXPECT_FALSE(learned_corrections(history, test::some_key(), profile_of_graph(20)).has_value());
  for (auto& outcomes : history) {
    outcomes.machine = test::some_key();
    outcomes.device = DeviceKind::emulated;
  }
  EXPECT_THAT(lessons_of(history, test::some_key(), DeviceKind::host), IsEmpty());
}

TEST(Lessons, NeedFiveGraphs) {
  std::mt19937 random(3);
  const auto history = history_of(4, 3, random, 0.03, slower_if_crowded);
  EXPECT_FALSE(learned_corrections(history, test::some_key(), profile_of_graph(20)).has_value());
}

// Five runs on one graph teach of this graph, and not of others.
TEST(Lessons, OrFiveRunsOnTheSameGraph) {
  std::mt19937 random(4);
  const auto history = history_of(1, 6, random, 0.02, [](const plan::Regime&) { return 0.2; });
  const auto learned = learned_corrections(history, test::some_key(), profile_of_graph(0));
  ASSERT_TRUE(learned.has_value());
  EXPECT_NEAR(learned->of(calm)->train->ratio, std::exp(0.2), 0.05);
  EXPECT_FALSE(learned_corrections(history, test::some_key(), profile_of_graph(1)).has_value());
}

TEST(Lessons, OutcomesWithOtherInputsAreReadByName) {
  std::mt19937 random(5);
  auto history = history_of(8, 1, random, 0.03, slower_if_crowded);
  for (auto& outcomes : history) {
    std::swap(outcomes.inputs.front(), outcomes.inputs.back());
    std::swap(outcomes.values.front(), outcomes.values.back());
    outcomes.inputs[3] = "forgotten";
  }
  EXPECT_TRUE(lessons_of(history, test::some_key(), DeviceKind::host).at(0).helps);
}

// A run that was disturbed says little.
TEST(Lessons, UncertainRatiosAreLeftOut) {
  std::mt19937 random(6);
  auto history = history_of(8, 1, random, 0.03, slower_if_crowded);
  for (auto& outcomes : history) {
    for (auto& plan : outcomes.plans) {
      plan.stages.train->standard_error = 0.5 * plan.stages.train->ratio;
    }
  }
  EXPECT_THAT(lessons_of(history, test::some_key(), DeviceKind::host), IsEmpty());
}

}  // namespace
}  // namespace gnomon::tuner
