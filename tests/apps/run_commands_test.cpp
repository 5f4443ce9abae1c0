#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/document.h"
#include "graph/order/reorder.h"
#include "graph/store/npy.h"
#include "program.h"
#include "tests/fixtures/graphs.h"

// Commands on finished runs: evaluate, predict, runs.

namespace gnomon::apps {
namespace {

namespace fs = std::filesystem;
using base::Json;
using testing::HasSubstr;

class RunCommands : public ::testing::Test {
 protected:
  /// Trains on "tiny" in an order of its own into "run".
  void SetUp() override {
    graph::write_in_order(graph::VertexOrder::degree, here_ / "tiny",
                          [&](const fs::path& store) { graph::generate(test::tiny_partition(), store); });
    std::vector<std::string> words = {"train",         "tiny",        "--run", "run",
                                      "--predictions", "trained.csv", "--json"};
    for (const char* word : {"--fanouts", "4,3", "--batch-size", "50", "--hidden", "8", "--epochs", "4",
                             "--norm", "batch", "--skip", "--metrics", "f1_macro,roc_auc,accuracy"}) {
      words.emplace_back(word);
    }
    report_ = json_of(words);
  }

  Outcome run(const std::vector<std::string>& words) const { return run_gnomon(words, here_); }
  Json json_of(const std::vector<std::string>& words) const {
    const auto outcome = run(words);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    return base::parse_json(outcome.out, "stdout");
  }
  void expect_refused(const std::vector<std::string>& words, const std::string& message) const {
    const auto outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr(message));
    EXPECT_EQ(std::count(outcome.error.begin(), outcome.error.end(), '\n'), 1) << outcome.error;
  }

  Workplace workplace_;
  const fs::path& here_ = workplace_.path();
  Json report_;
};

TEST_F(RunCommands, EvaluateFindsWhatTheRunReported) {
  const auto evaluation = json_of({"evaluate", "run", "--json"});
  EXPECT_EQ(evaluation["schema"], "gnomon.evaluation/1");
  EXPECT_EQ(evaluation["test"]["metrics"], report_["test_metrics"]);
  EXPECT_EQ(evaluation["valid"]["metrics"], report_["valid_metrics"]);
  EXPECT_EQ(evaluation["test"]["majority"], report_["test_majority"]);
  EXPECT_EQ(evaluation["best_epoch"], report_["best_epoch"]);
  EXPECT_EQ(evaluation["test"]["metrics"].size(), 3U);
  // The weights as the run wrote them for others.
  EXPECT_EQ(json_of({"evaluate", "run", "tiny", "--weights", "run/weights.safetensors", "--json"})["test"],
            evaluation["test"]);
  const auto accuracy = json_of({"evaluate", "run", "--metrics", "accuracy", "--json"});
  EXPECT_EQ(accuracy["test"]["metrics"], (Json{{"accuracy", report_["test_accuracy"]}}));
  const auto table = run({"evaluate", "run"});
  EXPECT_EQ(table.code, 0) << table.error;
  EXPECT_THAT(table.out, HasSubstr("split  vertices  f1_macro  roc_auc  accuracy    loss  majority class"));
  EXPECT_THAT(table.out, HasSubstr("weights of epoch "));
}

std::vector<float> values_of(const fs::path& path, const std::vector<std::int64_t>& shape) {
  const auto npy = graph::map_npy(path);
  EXPECT_EQ(npy.header.shape, shape);
  EXPECT_EQ(npy.header.type, graph::DType::float32);
  const auto values = npy.span<float>();
  return {values.begin(), values.end()};
}

TEST_F(RunCommands, PredictWritesClassesLogitsAndEmbeddingsByOriginalId) {
  const auto outcome =
      run({"predict", "run", "-o", "classes.csv", "--logits", "logits.npy", "--embeddings", "h.npy"});
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.out, "written to classes.csv\nwritten to logits.npy\nwritten to h.npy\n");
  EXPECT_EQ(base::read_file(here_ / "classes.csv"), base::read_file(here_ / "trained.csv"));
  const auto logits = values_of(here_ / "logits.npy", {600, 4});
  values_of(here_ / "h.npy", {600, 8});
  std::istringstream lines(base::read_file(here_ / "classes.csv"));
  std::string line;
  std::getline(lines, line);
  for (std::ptrdiff_t vertex = 0; vertex < 600; ++vertex) {
    std::getline(lines, line);
    const auto row = logits.begin() + 4 * vertex;
    EXPECT_EQ(line, std::to_string(vertex) + "," + std::to_string(std::max_element(row, row + 4) - row));
  }
}

TEST_F(RunCommands, AnotherGraphIsEvaluatedIfTheModelFits) {
  auto other = test::tiny_partition();
  other.seed = 77;
  other.vertices = 400;
  graph::generate(other, here_ / "other");
  const auto evaluation = json_of({"evaluate", "run", "other", "--json"});
  EXPECT_EQ(evaluation["data"], "other");
  EXPECT_GT(evaluation["test"]["vertices"], 0);
  other.feature_columns = 5;
  graph::generate(other, here_ / "narrow");
  expect_refused({"evaluate", "run", "narrow"}, "feature columns: are 5; the run's model has 16");
  other.feature_columns = 16;
  other.classes = 6;
  graph::generate(other, here_ / "classes");
  expect_refused({"predict", "run", "classes", "-o", "x.csv"}, "classes: are 6; the run's model has 4");
}

TEST_F(RunCommands, WrongUsesAreRefused) {
  expect_refused({"predict", "run"}, "nothing to write");
  expect_refused({"predict", "run", "-o", "x.parquet"}, "--output: x.parquet: classes are written as CSV");
  expect_refused({"predict", "run", "-o", "absent/x.csv"}, "--output: absent/x.csv");
  expect_refused({"evaluate", "absent"}, "absent: is not a directory");
  expect_refused({"evaluate", "tiny"}, "tiny: is a graph store; name a run of gnomon train");
  fs::create_directory(here_ / "empty");
  expect_refused({"evaluate", "empty"}, "has no report.json");
  expect_refused({"evaluate", "empty", "tiny"}, "empty/checkpoint.pt: does not exist");
  expect_refused({"evaluate", "run", "--metrics", "recall"}, "\"recall\" is not known");
  expect_refused({"evaluate", "run", "--weights", "run/job.json"}, "is not a safetensors file");
  fs::rename(here_ / "tiny", here_ / "moved");
  expect_refused({"evaluate", "run"}, "tiny does not exist here");
  EXPECT_EQ(json_of({"evaluate", "run", "moved", "--json"})["test"]["metrics"], report_["test_metrics"]);
}

TEST_F(RunCommands, RunsComparesRuns) {
  EXPECT_EQ(run({"train", "tiny", "--run", "other", "--fanouts", "3,3", "--hidden", "8", "--epochs", "2",
                 "--plan", "salient", "--tensorboard", "events"})
                .code,
            0);
  EXPECT_FALSE(fs::is_empty(here_ / "events"));
  const auto table = run({"runs", "run", "other"});
  EXPECT_EQ(table.code, 0) << table.error;
  EXPECT_THAT(table.out, HasSubstr("run    plan     model  epochs  epoch time   valid  test f1_macro"));
  EXPECT_THAT(table.out, testing::ContainsRegex("\nother  salient  sage        2 "));
  const auto json = json_of({"runs", ".", "--json"});
  ASSERT_EQ(json["runs"].size(), 2U);
  EXPECT_EQ(json["runs"][1]["run"], "./run");
  EXPECT_EQ(json["runs"][1]["test_metrics"], report_["test_metrics"]);
  expect_refused({"runs", "tiny"}, "tiny: holds no run");
}

}  // namespace
}  // namespace gnomon::apps
