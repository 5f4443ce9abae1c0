#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "profiles/machine_key.h"
#include "program.h"
#include "tests/fixtures/variable.h"
#include "tuner/history/history.h"

namespace gnomon::apps {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class HistoryCommand : public ::testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "history");
    return run_gnomon(arguments, place_.path());
  }
  /// Runs on `graphs` graphs, whose training took 1.5 times as long as predicted.
  void add_runs(int graphs) {
    for (int graph = 0; graph < graphs; ++graph) {
      tuner::Outcomes outcomes{.machine = profiles::machine_key(), .graph = "graph" + std::to_string(graph)};
      outcomes.inputs = {"graph.vertices"};
      outcomes.values = {1000.0 * (graph + 1)};
      const double ratio = 1.5 + 0.01 * (graph % 3);
      outcomes.plans = {{"p", {}, {.train = profiles::Correction{ratio, 0.01, 50}}}};
      ASSERT_EQ(history_.add(outcomes), "");
    }
  }

  Workplace place_;
  test::Variable own_{"GNOMON_CACHE", (place_ / "cache").string()};
  tuner::History history_;
};

TEST_F(HistoryCommand, SaysWhatRunsTeach) {
  EXPECT_EQ(run({}).out, "no run on this machine is in " + history_.directory().string() + "\n");
  add_runs(4);
  EXPECT_THAT(run({}).out, HasSubstr("4 runs on 4 graphs with device host\n"
                                     "corrections are judged from 5 graphs on\n"));
  add_runs(7);
  EXPECT_THAT(run({}).out, HasSubstr("11 runs on 7 graphs with device host\n"));
  EXPECT_THAT(run({}).out, ContainsRegex("train +11 .* yes"));
  const auto document = base::Json::parse(run({"--json"}).out);
  EXPECT_EQ(document["schema"], "gnomon.history/1");
  const auto& stage = document["devices"][0]["stages"][0];
  EXPECT_EQ(stage["stage"], "train");
  EXPECT_NEAR(stage["error_before"].get<double>(), std::log(1.51), 0.02);
  EXPECT_LT(stage["error_after"], 0.1);
  EXPECT_EQ(stage["helps"], true);
}

TEST_F(HistoryCommand, Forgets) {
  add_runs(2);
  EXPECT_EQ(run({"--forget"}).out, "removed 2 runs from " + history_.directory().string() + "\n");
  EXPECT_TRUE(history_.read().empty());
}

TEST_F(HistoryCommand, NeedsACache) {
  const test::Variable off("GNOMON_CACHE", "off");
  const auto outcome = run({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.error, "gnomon history: history: GNOMON_CACHE is off\n");
}

}  // namespace
}  // namespace gnomon::apps
