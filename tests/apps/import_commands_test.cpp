#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "graph/import/option_rules.h"
#include "program.h"
#include "tests/graph/files.h"
#include "tests/graph/graph_parts.h"

namespace gnomon::apps {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

class ImportCommands : public ::testing::Test {
 protected:
  Outcome run(const Words& words) const { return run_gnomon(words, here_.path()); }
  void expect_refused(const Words& words, const std::string& message) const {
    const auto before = here_.names();
    const auto outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.error, "gnomon " + words.front() + ": " + message + "\n");
    EXPECT_EQ(here_.names(), before) << "a refused command left something behind";
  }

  Workplace here_;
};

TEST_F(ImportCommands, OptionsWithoutEffectAreRefused) {
  here_.write("m.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n");
  here_.write("e.txt", "0 1\n1 2\n");
  graph::write_zip(here_ / "x.npz", {{"edge_index", graph::integers({2, 2}, {0, 1, 1, 2})},
                                     {"x", graph::floats({3, 1}, {1, 2, 3})},
                                     {"y", graph::integers({3}, {0, 1, 0})}});
  here_.write("xnan.npy", graph::floats({3, 1}, {1, NAN, 3}));
  here_.write("y.npy", graph::integers({3}, {0, 1, 0}));
  const std::string numbered = "whose vertices are numbered from 0 already; leave it out";
  expect_refused({"import", "npz", "x.npz", "s", "--features", "xnan.npy", "--labels", "y.npy", "--relabel"},
                 "--relabel: does not apply to npz, " + numbered);
  expect_refused({"import", "npz", "x.npz", "s", "--features", "xnan.npy"},
                 "--features: x.npz: x has features already; leave --features out");
  expect_refused({"import", "npz", "x.npz", "s", "--labels", "y.npy"},
                 "--labels: x.npz has labels already; leave --labels out");
  expect_refused({"import", "mtx", "m.mtx", "s", "--relabel"},
                 "--relabel: does not apply to mtx (Matrix Market), " + numbered);
  expect_refused({"import", "auto", "m.mtx", "s", "--relabel"},
                 "--relabel: does not apply to mtx (Matrix Market), " + numbered);
  expect_refused(
      {"import", "edges", "e.txt", "s", "--mask", "0"},
      "--mask: does not apply to edges (an edge list), which has no splits; give one with --train-ids, "
      "--valid-ids and --test-ids");
  expect_refused({"import", "edges", "e.txt", "s", "--seed", "0"},
                 "--seed: has no effect: nothing is drawn at random; leave it out");
  expect_refused(
      {"import", "edges", "e.txt", "s", "--feature-type", "fp32"},
      "--feature-type: needs features, and e.txt has none; add --features FILE.npy or --random-features N");
}

TEST_F(ImportCommands, GenerateRefusesOptionsWithoutEffect) {
  expect_refused(
      {"generate", "rmat", "s", "--scale", "4", "--feature-columns", "0", "--feature-type", "fp32"},
      "--feature-type: has no effect: there are no features; leave it out or add --feature-columns");
  expect_refused({"generate", "sbm", "s", "--classes", "1", "--intra-share", "0.3"},
                 "--intra-share: has no effect: there is one class; leave it out or add --classes");
}

TEST_F(ImportCommands, HelpShowsTheOptionsOfTheRules) {
  const auto help = run({"import", "--help"}).out;
  for (const auto& rule : graph::option_rules()) {
    EXPECT_THAT(help, HasSubstr("  " + std::string(rule.option) + " ")) << rule.field;
  }
}

TEST_F(ImportCommands, AnEmptyEdgeListIsRefused) {
  here_.write("e.txt", "# nothing\n");
  expect_refused({"import", "edges", "e.txt", "s"},
                 "e.txt: has no edges; a line of an edge list is \"source destination\"");
}

TEST_F(ImportCommands, NamesAreKeptAndNotesAreTold) {
  here_.write("papers.csv", "citing,cited\nA,B\nB,\"C, D\"\n");
  const auto outcome = run({"import", "edges", "papers.csv", "s", "--header", "yes", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const auto document = base::Json::parse(outcome.out);
  EXPECT_EQ(document["vertices"], 3);
  EXPECT_EQ(document["named"], true);
  EXPECT_EQ(document["notes"].size(), 2U);
  EXPECT_EQ(outcome.error,
            "note: line 1 is a header: edges go from column \"citing\" to column \"cited\"\n"
            "note: ids are names: 3 vertices, numbered in the order of their first occurrence and named in "
            "names.txt "
            "of the store\n");
  EXPECT_THAT(graph::names_of(graph::open_store(here_ / "s")), ElementsAre("A", "B", "C, D"));
  EXPECT_THAT(run({"info", "s"}).out, HasSubstr("names     original vertex names in names.txt\n"));
  here_.write("e.txt", "1 2\n");
  EXPECT_THAT(
      run({"import", "edges", "e.txt", "t"}).error,
      HasSubstr("note: 1 of 3 vertices have no edges, as not all ids from 0 to 2 occur; --relabel keeps only "
                "those that do\n"));
}

TEST_F(ImportCommands, WhatIsDrawnAndWhatIsLeftOutIsTold) {
  const graph::Arrays arrays{{"edge_index", graph::integers({2, 4}, {0, 1, 1, 2, 1, 0, 2, 1})},
                             {"edge_attr", graph::floats({4}, {1, 2, 3, 4})},
                             {"pos", graph::floats({3}, {1, 2, 3})},
                             {"x", graph::floats({3, 1}, {1, 2, 3})},
                             {"y", graph::integers({3}, {0, 1, 0})}};
  graph::write_zip(here_ / "x.npz", arrays);
  EXPECT_EQ(
      run({"import", "npz", "x.npz", "drawn"}).error,
      "note: not imported: edge_attr, pos (--edge-weights given imports edge_attr)\n"
      "note: no split in the data; drew one at random: 60 % for training, 20 % for validation, seed 0\n");
  EXPECT_EQ(run({"import", "npz", "x.npz", "weighted", "--edge-weights", "given", "--split", "ratio"}).error,
            "note: not imported: pos\n");
  EXPECT_THAT(run({"import", "npz", "x.npz", "reversed", "--reverse"}).error, HasSubstr("drew one"));
  auto one_way = arrays;
  one_way.front().second = graph::integers({2, 2}, {0, 1, 1, 2});
  one_way.erase(one_way.begin() + 1);
  graph::write_zip(here_ / "one_way.npz", one_way);
  const std::string hint = "note: edges come without their reverses; --undirected adds these\n";
  EXPECT_THAT(run({"import", "npz", "one_way.npz", "one_way"}).error, HasSubstr(hint));
  EXPECT_THAT(run({"import", "npz", "one_way.npz", "both_ways", "--undirected"}).error, Not(HasSubstr(hint)));
  auto with_split = arrays;
  with_split.push_back({"train_idx", graph::integers({1}, {2})});
  with_split.push_back({"valid_idx", graph::integers({1}, {0})});
  with_split.push_back({"test_idx", graph::integers({1}, {1})});
  graph::write_zip(here_ / "split.npz", with_split);
  EXPECT_EQ(run({"import", "npz", "split.npz", "s", "--edge-weights", "given"}).error,
            "note: not imported: pos\n");
  const auto store = graph::open_store(here_ / "s");
  EXPECT_THAT(store.train, ElementsAre(2));
  EXPECT_THAT(store.valid, ElementsAre(0));
  EXPECT_THAT(store.test, ElementsAre(1));
  expect_refused({"import", "npz", "split.npz", "t", "--train-ids", "ids.txt"},
                 "--train-ids: has no effect: split.npz has a split (train_idx); leave it out");
}

/// An edge list of 300 named vertices in four classes, which the first of eight features tells apart.
class NamedGraph : public ImportCommands {
 protected:
  void SetUp() override {
    std::string edges = "from,to\n";
    std::string nodes = "name\n";
    std::string train;
    std::string test;
    std::vector<float> features;
    std::vector<std::int64_t> labels;
    for (int v = 0; v < 300; ++v) {
      const std::string name = "\"vertex, " + std::to_string(v) + "\"\n";
      nodes += name;
      (v % 3 == 0 ? test : train) += name;
      labels.push_back(v % 4);
      for (int column = 0; column < 8; ++column) {
        features.push_back(column == v % 4 ? 1.0F : 0.0F);
      }
      for (int k = 1; k <= 3; ++k) {
        edges += "\"vertex, " + std::to_string(v) + "\",\"vertex, " + std::to_string((v + 4 * k * k) % 300) +
                 "\"\n";
      }
    }
    here_.write("edges.csv", edges);
    here_.write("nodes.txt", nodes);
    here_.write("train.txt", train);
    here_.write("test.txt", test);
    here_.write("x.npy", graph::floats({300, 8}, features));
    here_.write("y.npy", graph::integers({300}, labels));
  }
  static Words with_options(Words words) {
    for (const char* word : {"--undirected", "--vertices", "nodes.txt", "--features", "x.npy", "--labels",
                             "y.npy", "--train-ids", "train.txt", "--test-ids", "test.txt"}) {
      words.emplace_back(word);
    }
    return words;
  }
};

TEST_F(NamedGraph, PredictionsCallVerticesByTheirNames) {
  const auto imported = run(with_options({"import", "edges", "edges.csv", "s", "--reorder", "rcm"}));
  ASSERT_EQ(imported.code, 0) << imported.error;
  const auto trained = run({"train", "s", "--fanouts", "4,3", "--batch-size", "50", "--hidden", "16",
                            "--epochs", "40", "--predictions", "classes.csv"});
  ASSERT_EQ(trained.code, 0) << trained.error;
  std::ifstream file(here_ / "classes.csv");
  std::string line;
  std::getline(file, line);
  EXPECT_EQ(line, "vertex,class");
  int correct = 0;
  for (int v = 0; v < 300; ++v) {
    ASSERT_TRUE(std::getline(file, line));
    ASSERT_THAT(line, StartsWith("\"vertex, " + std::to_string(v) + "\","));
    correct += line.back() - '0' == v % 4 ? 1 : 0;
  }
  EXPECT_FALSE(std::getline(file, line));
  EXPECT_GT(correct, 270);
}

TEST_F(NamedGraph, DemoTakesTheOptionsOfImport) {
  const auto outcome =
      run(with_options({"demo", "edges.csv", "--run", "demo", "--fanouts", "4,3", "--batch-size", "50",
                        "--hidden", "8", "--epochs", "1", "--time-limit", "1", "--seed", "7"}));
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("note: ids are names: 300 vertices"));
  const auto graph = graph::open_store(here_ / "demo/graph");
  EXPECT_EQ(graph.num_vertices(), 300);
  EXPECT_EQ(graph.train.size(), 200U);
  EXPECT_EQ(graph.test.size(), 100U);
}

TEST_F(NamedGraph, DemoReplacesARunOnlyWhenAsked) {
  auto words = with_options({"demo", "edges.csv", "--run", "demo", "--fanouts", "4,3", "--batch-size", "50",
                             "--hidden", "8", "--epochs", "1", "--time-limit", "0.5"});
  ASSERT_EQ(run(words).code, 0);
  expect_refused(
      words,
      "demo: holds a run; continue it with gnomon train --resume, replace it with --overwrite, or name "
      "another directory");
  words.emplace_back("--overwrite");
  const auto outcome = run(words);
  EXPECT_EQ(outcome.code, 0) << outcome.error;
}

TEST_F(NamedGraph, DemoRefusesOptionsWithoutEffect) {
  ASSERT_EQ(run({"generate", "rmat", "store", "--scale", "4", "--feature-columns", "4"}).code, 0);
  expect_refused(
      {"demo", "store", "--undirected"},
      "--undirected: applies to a graph file that is imported, and store is a graph store; leave it out");
  expect_refused({"demo", "--relabel"},
                 "--relabel: applies to a graph file that is imported, and no FILE is given; leave it out");
  expect_refused(
      {"demo", "edges.csv", "--ogb-split", "time"},
      "--ogb-split: does not apply to edges (an edge list), which has no splits; give one with --train-ids, "
      "--valid-ids and --test-ids");
}

}  // namespace
}  // namespace gnomon::apps
