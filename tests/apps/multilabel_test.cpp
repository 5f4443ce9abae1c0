#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/atomic_file.h"
#include "base/document.h"
#include "graph/store/store.h"
#include "program.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/label_sets.h"

// Commands on a graph whose vertices have several classes.

namespace gnomon::apps {
namespace {

namespace fs = std::filesystem;
using base::Json;
using testing::HasSubstr;
using testing::StartsWith;

class MultilabelCommands : public ::testing::Test {
 protected:
  void SetUp() override {
    graph::write_store(test::with_label_sets(graph::generate_in_memory(test::tiny_partition()), 3),
                       here_ / "sets");
  }

  Json json_of(const std::vector<std::string>& words) const {
    const auto outcome = run_gnomon(words, here_);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    return base::parse_json(outcome.out, "stdout");
  }
  Json train(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"train",    "sets",         "--run", "run",      "--fanouts",
                                   "4,3",      "--batch-size", "50",    "--hidden", "16",
                                   "--epochs", "15",           "--lr",  "0.01",     "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return json_of(words);
  }

  Workplace workplace_;
  const fs::path& here_ = workplace_.path();
};

TEST_F(MultilabelCommands, GoTheWholeWay) {
  EXPECT_THAT(run_gnomon({"info", "sets"}, here_).out, HasSubstr("3, several per vertex"));
  EXPECT_EQ(json_of({"info", "sets", "--json"})["multilabel"], true);
  const auto report = train({"--predictions", "trained.csv"});
  EXPECT_EQ(report["job"]["metrics"], Json{"f1_micro"});
  EXPECT_GT(report["test_metrics"]["f1_micro"], 0.6);
  const auto evaluation = json_of({"evaluate", "run", "--json"});
  EXPECT_EQ(evaluation["test"]["metrics"], report["test_metrics"]);
  EXPECT_EQ(json_of({"evaluate", "run", "--metrics", "accuracy", "--json"})["test"]["metrics"]["accuracy"],
            report["test_accuracy"]);

  ASSERT_EQ(run_gnomon({"predict", "run", "-o", "predicted.csv"}, here_).code, 0);
  const auto text = base::read_file(here_ / "predicted.csv");
  EXPECT_EQ(text, base::read_file(here_ / "trained.csv"));
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "vertex,class");
  std::size_t of_two_classes = 0;
  for (int vertex = 0; vertex < 600; ++vertex) {
    ASSERT_TRUE(std::getline(lines, line));
    const auto begin = std::to_string(vertex) + ",";
    ASSERT_THAT(line, StartsWith(begin));
    const auto classes = line.substr(begin.size());
    EXPECT_TRUE(classes.find_first_not_of("012 ") == std::string::npos) << line;
    of_two_classes += classes == "0 1" ? 1 : 0;
  }
  EXPECT_GT(of_two_classes, 60U) << "a quarter of the vertices has the classes 0 and 1";
  EXPECT_FALSE(std::getline(lines, line));
}

TEST_F(MultilabelCommands, MetricsThatAreNamedJudgeTheEpochs) {
  const auto report = train({"--metrics", "accuracy,roc_auc"});
  EXPECT_EQ(report["job"]["metrics"], (Json{"accuracy", "roc_auc"}));
  EXPECT_EQ(report["test_metrics"]["accuracy"], report["test_accuracy"]);
}

TEST_F(MultilabelCommands, PlansAreTunedOnIt) {
  const auto tuned = json_of({"autotune", "sets", "--run", "tuned", "--fanouts", "4,3", "--batch-size", "50",
                              "--hidden", "16", "--epochs", "3", "--time-limit", "1", "--json"});
  EXPECT_EQ(tuned["training"]["job"]["metrics"], Json{"f1_micro"});
}

}  // namespace
}  // namespace gnomon::apps
