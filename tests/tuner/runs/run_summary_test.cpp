#include "tuner/runs/run_summary.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::tuner {
namespace {

namespace fs = std::filesystem;
using base::Json;

class Runs : public ::testing::Test {
 protected:
  fs::path make_run(const std::string& name) const {
    const auto run = here_.path() / name;
    fs::create_directories(run);
    plan::Job job;
    job.epochs = 5;
    base::write_document(run / "job.json", job);
    base::write_file_atomically(run / "plan.json", R"({"schema": "gnomon.plan/1", "name": "pipelined"})");
    return run;
  }
  const test::TemporaryDirectory here_;
};

TEST_F(Runs, AFinishedRunIsSummarisedByItsReportAndLog) {
  const auto run = make_run("a");
  base::write_file_atomically(run / "log.jsonl",
                              "{\"epoch\": 0, \"loss\": 2.5, \"seconds\": 9}\n"
                              "{\"epoch\": 1, \"loss\": 1.5, \"seconds\": 2}\n"
                              "{\"epoch\": 2, \"loss\": 0.5, \"seconds\": 3}\n");
  base::write_file_atomically(
      run / "report.json",
      R"({"data": "stores/x", "best_epoch": 1, "valid_metrics": {"roc_auc": 0.75, "accuracy": null},
          "test_metrics": {"roc_auc": 0.5, "accuracy": 0.25}})");
  const auto runs = summarise_runs({run});
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].problem, "");
  EXPECT_TRUE(runs[0].has_ended);
  EXPECT_EQ(runs[0].data, "stores/x");
  EXPECT_EQ(runs[0].plan, "pipelined");
  EXPECT_EQ(runs[0].job.epochs, 5);
  EXPECT_EQ(runs[0].epochs, 3);
  EXPECT_EQ(runs[0].epoch_s, 3.0);
  EXPECT_EQ(runs[0].loss, 0.5);
  EXPECT_EQ(runs[0].best_epoch, 1);
  EXPECT_EQ(runs[0].valid, (NamedMetrics{{"roc_auc", 0.75}, {"accuracy", std::nullopt}}));
  EXPECT_EQ(runs[0].test, (NamedMetrics{{"roc_auc", 0.5}, {"accuracy", 0.25}}));
  const auto json = to_document(runs)["runs"][0];
  EXPECT_EQ(json["test_metrics"]["roc_auc"], 0.5);
  EXPECT_TRUE(json["valid_metrics"]["accuracy"].is_null());
}

TEST_F(Runs, AnInterruptedRunIsSummarisedByItsLog) {
  const auto run = make_run("a");
  base::write_file_atomically(
      run / "log.jsonl",
      "{\"epoch\": 0, \"loss\": 2.5, \"seconds\": 9, \"valid_metrics\": {\"accuracy\": 0.5}}\n"
      "{\"epoch\": 1, \"lo");
  const auto runs = summarise_runs({run});
  EXPECT_FALSE(runs[0].has_ended);
  EXPECT_EQ(runs[0].epochs, 1);
  EXPECT_EQ(runs[0].valid, (NamedMetrics{{"accuracy", 0.5}}));
  EXPECT_TRUE(runs[0].test.empty());
}

TEST_F(Runs, ReportsWithoutMetricsHaveAccuracy) {
  const auto run = make_run("a");
  base::write_file_atomically(run / "report.json", R"({"valid_accuracy": 0.5, "test_accuracy": null})");
  const auto runs = summarise_runs({run});
  EXPECT_EQ(runs[0].valid, (NamedMetrics{{"accuracy", 0.5}}));
  EXPECT_EQ(runs[0].test, (NamedMetrics{{"accuracy", std::nullopt}}));
}

TEST_F(Runs, ADirectoryOfRunsIsListedByNameAndNumber) {
  for (const char* name : {"cora-10", "cora-2", "b", "cora-1"}) {
    make_run(name);
  }
  fs::create_directories(here_.path() / "stores");
  std::vector<std::string> names;
  for (const auto& run : summarise_runs({here_.path()})) {
    names.push_back(run.directory.filename());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"b", "cora-1", "cora-2", "cora-10"}));
}

TEST_F(Runs, ADamagedRunDoesNotHideTheOthers) {
  base::write_file_atomically(make_run("a") / "job.json", "{");
  base::write_file_atomically(make_run("b") / "report.json", "[1]");
  base::write_file_atomically(make_run("c") / "report.json", R"({"data": 3})");
  make_run("d");
  const auto runs = summarise_runs({here_.path()});
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_NE(runs[0].problem.find("job.json"), std::string::npos) << runs[0].problem;
  EXPECT_NE(runs[1].problem, "");
  EXPECT_NE(runs[2].problem, "");
  EXPECT_EQ(runs[3].problem, "");
}

TEST_F(Runs, WhatHoldsNoRunIsRefused) {
  EXPECT_THROW(summarise_runs({here_.path()}), base::InputError);
  EXPECT_THROW(summarise_runs({here_.path() / "absent"}), base::InputError);
}

}  // namespace
}  // namespace gnomon::tuner
