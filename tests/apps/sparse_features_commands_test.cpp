#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/document.h"
#include "graph/store/store.h"
#include "program.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/graph/files.h"

// Every command on a store with sparse features.

namespace gnomon::apps {
namespace {

namespace fs = std::filesystem;
using base::Json;
using testing::HasSubstr;

class SparseStore : public ::testing::Test {
 protected:
  /// "dense" and "sparse" hold the same graph.
  void SetUp() override {
    auto graph = graph::generate_in_memory(test::tiny_partition());
    auto values = test::dense_values(graph.features);
    for (float& value : values) {
      value = value > 0.5F ? value : 0.0F;
    }
    graph = test::with_features(graph, values, graph.features.columns, graph::FeatureType::fp32);
    graph::write_store(graph, here_ / "dense");
    graph::write_store(test::in_sparse_form(graph), here_ / "sparse");
  }

  Outcome run(const std::vector<std::string>& words) const {
    auto outcome = run_gnomon(words, here_);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    return outcome;
  }
  Json json_of(std::vector<std::string> words) const {
    words.emplace_back("--json");
    return base::parse_json(run(words).out, "stdout");
  }
  Json train(const std::string& store, const std::string& directory,
             std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"train", store, "--run", directory};
    for (const char* word : {"--fanouts", "4,3", "--batch-size", "50", "--hidden", "8", "--epochs", "3"}) {
      words.emplace_back(word);
    }
    words.insert(words.end(), more.begin(), more.end());
    return json_of(words);
  }

  Workplace workplace_;
  const fs::path& here_ = workplace_.path();
};

TEST_F(SparseStore, InfoTellsTheForm) {
  EXPECT_THAT(run({"info", "sparse"}).out, HasSubstr("; sparse, "));
  const auto document = json_of({"info", "sparse"});
  EXPECT_EQ(document["feature_form"], "sparse");
  EXPECT_LT(document["feature_bytes"], json_of({"info", "dense"})["feature_bytes"]);
  EXPECT_EQ(json_of({"info", "dense"})["feature_form"], "dense");
}

TEST_F(SparseStore, ImportKeepsOrMakesTheFormAskedFor) {
  graph::write_text(here_ / "e.txt", "0 1\n1 2\n2 0\n");
  std::vector<float> values(3 * 50, 0.0F);
  values[4] = values[77] = 1;
  graph::write_text(here_ / "f.npy", graph::floats({3, 50}, values));
  const auto form_of = [&](const std::string& store, const std::vector<std::string>& more) {
    std::vector<std::string> words{"import", "edges", "e.txt", store, "--features", "f.npy"};
    words.insert(words.end(), more.begin(), more.end());
    return json_of(words)["feature_form"];
  };
  EXPECT_EQ(form_of("a", {}), "sparse");
  EXPECT_EQ(form_of("b", {"--feature-form", "dense"}), "dense");
  EXPECT_EQ(form_of("c", {"--feature-form", "sparse", "--feature-type", "fp16"}), "sparse");
  const auto refused =
      run_gnomon({"import", "edges", "e.txt", "d", "--features", "f.npy", "--feature-form", "csr"}, here_);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.error, HasSubstr("\"csr\" is not known; use one of automatic, dense, sparse"));
}

TEST_F(SparseStore, TrainsAndIsEvaluatedAsTheDenseOne) {
  const auto sparse = train("sparse", "s");
  const auto dense = train("dense", "d");
  EXPECT_NEAR(sparse["test_accuracy"].get<double>(), dense["test_accuracy"].get<double>(), 0.05);
  const auto evaluated = json_of({"evaluate", "s"});
  EXPECT_EQ(evaluated["test"]["metrics"]["accuracy"], sparse["test_accuracy"]);
  EXPECT_NEAR(json_of({"evaluate", "s", "dense"})["test"]["loss"].get<double>(),
              evaluated["test"]["loss"].get<double>(), 1e-5);
  run({"predict", "s", "-o", "s.csv"});
  const auto predicted = base::read_file(here_ / "s.csv");
  EXPECT_EQ(std::count(predicted.begin(), predicted.end(), '\n'), 601);
  const auto hash = sparse["weights_hash"];
  EXPECT_EQ(train("sparse", "s2", {"--plan", "salient"})["weights_hash"], hash);
  EXPECT_EQ(train("sparse", "s3", {"--plan", "device"})["weights_hash"], hash);
}

TEST_F(SparseStore, IsMeasuredAndPredicted) {
  run({"profile", "sparse", "-o", "p.json", "--time-limit", "1", "--fanouts", "4,3", "--batch-size", "50",
       "--hidden", "8"});
  const auto profile = base::parse_json(base::read_file(here_ / "p.json"), "p.json");
  const auto features = graph::open_store(here_ / "sparse").features;
  EXPECT_EQ(profile["workload"]["feature_row_bytes"], (features.bytes() + features.rows - 1) / features.rows);
  EXPECT_EQ(profile["workload"]["feature_columns"], features.columns);
  EXPECT_THAT(run({"explore", "p.json", "--plan", "device,salient"}).out, HasSubstr("salient"));
  EXPECT_THAT(run({"validate", "sparse", "p.json", "--plans", "device", "--epochs", "1"}).out,
              HasSubstr("device"));
}

}  // namespace
}  // namespace gnomon::apps
