#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "graph/import/import.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/fixtures/temporary_directory.h"

// Counts are those that the publishers of the graphs state; see also the README beside the files.

namespace gnomon::graph {
namespace {

struct Expected {
  std::string file;
  std::int64_t vertices, edges, columns;
  std::int32_t classes;
  std::size_t train, valid, test;
  bool symmetric;
};

std::string path_of(const std::string& file) { return std::string(SOURCE_DIR) + "/../shared/data/" + file; }

std::string test_name(std::string file) {
  file.resize(file.find('.'));
  std::ranges::replace(file, '-', '_');
  return file;
}

std::int64_t self_loops(const Graph& graph) {
  std::int64_t loops = 0;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    loops += std::ranges::count(graph.neighbours(v), v);
  }
  return loops;
}

bool is_symmetric(const Graph& graph) {
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    for (const VertexId u : graph.neighbours(v)) {
      const auto back = graph.neighbours(u);
      if (!std::binary_search(back.begin(), back.end(), v)) {
        return false;
      }
    }
  }
  return true;
}

Graph import_to(const test::TemporaryDirectory& directory, const ImportOptions& options) {
  import_graph(options, directory / "g");
  Graph graph = open_store(directory / "g");
  validate(graph, false);
  return graph;
}

class RealData : public testing::TestWithParam<Expected> {};

TEST_P(RealData, HasThePublishedCounts) {
  const Expected& expected = GetParam();
  if (!std::filesystem::exists(path_of(expected.file))) {
    GTEST_SKIP() << expected.file << " is not in ../shared/data";
  }
  const test::TemporaryDirectory directory;
  ImportOptions options;
  options.source = path_of(expected.file);
  options.content.split.method = expected.train > 0 ? SplitMethod::given : SplitMethod::automatic;
  const Graph graph = import_to(directory, options);
  EXPECT_EQ(graph.num_vertices(), expected.vertices);
  EXPECT_EQ(graph.num_edges(), expected.edges);
  EXPECT_EQ(graph.features.columns, expected.columns);
  EXPECT_EQ(graph.num_classes, expected.classes);
  EXPECT_EQ(is_symmetric(graph), expected.symmetric);
  if (expected.train > 0) {
    EXPECT_EQ(graph.train.size(), expected.train);
    EXPECT_EQ(graph.valid.size(), expected.valid);
    EXPECT_EQ(graph.test.size(), expected.test);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, RealData,
    testing::Values(Expected{"cora.npz", 2708, 10556, 1433, 7, 140, 500, 1000, true},
                    Expected{"citeseer.npz", 3327, 9228, 3703, 6, 120, 500, 1000, true},
                    Expected{"amazon_cs.npz", 13752, 287209, 767, 10, 0, 0, 0, false},
                    Expected{"amazon_photo.npz", 7650, 143663, 745, 8, 0, 0, 0, false},
                    Expected{"coauthor_cs.npz", 18333, 163788, 6805, 15, 0, 0, 0, true},
                    Expected{"tolokers.npz", 11758, 519000, 10, 2, 5879, 2939, 2940, false},
                    Expected{"minesweeper.npz", 10000, 39402, 7, 2, 5000, 2500, 2500, false},
                    Expected{"soc-Slashdot0902.txt.gz", 82168, 948464, 0, 0, 0, 0, 0, false},
                    Expected{"ego-twitter.txt.gz", 81306, 1342310, 0, 0, 0, 0, 0, false}),
    [](const auto& instance) { return test_name(instance.param.file); });

/// Undirected edges, each pair once, and how many of them are self-loops.
struct Pairs {
  std::string file;
  std::int64_t pairs, loops;
};

class Undirected : public testing::TestWithParam<Pairs> {};

TEST_P(Undirected, HasThePublishedPairs) {
  const auto& [file, pairs, loops] = GetParam();
  if (!std::filesystem::exists(path_of(file))) {
    GTEST_SKIP() << file << " is not in ../shared/data";
  }
  const test::TemporaryDirectory directory;
  ImportOptions options;
  options.source = path_of(file);
  options.content.edges.undirected = true;
  const Graph graph = import_to(directory, options);
  EXPECT_TRUE(is_symmetric(graph));
  EXPECT_EQ(self_loops(graph), loops);
  EXPECT_EQ(graph.num_edges(), 2 * (pairs - loops) + loops);
}

INSTANTIATE_TEST_SUITE_P(Files, Undirected,
                         testing::Values(Pairs{"amazon_cs.npz", 245861, 0},
                                         Pairs{"amazon_photo.npz", 119082, 1},
                                         Pairs{"tolokers.npz", 519000, 0}, Pairs{"minesweeper.npz", 39402, 0},
                                         Pairs{"ego-twitter.txt.gz", 1342310, 14}),
                         [](const auto& instance) { return test_name(instance.param.file); });

TEST(RealData, CiteseerKeepsSelfLoopsAndUnknownLabels) {
  if (!std::filesystem::exists(path_of("citeseer.npz"))) {
    GTEST_SKIP() << "citeseer.npz is not in ../shared/data";
  }
  const test::TemporaryDirectory directory;
  ImportOptions options;
  options.source = path_of("citeseer.npz");
  const Graph graph = import_to(directory, options);
  EXPECT_EQ(self_loops(graph), 124);
  EXPECT_EQ(std::ranges::count(graph.labels, -1), 15);
}

TEST(RealData, PhysicsAsShchurSplitsIt) {
  if (!std::filesystem::exists(path_of("coauthor_phy.npz"))) {
    GTEST_SKIP() << "coauthor_phy.npz is not in ../shared/data";
  }
  const test::TemporaryDirectory directory;
  ImportOptions options;
  options.source = path_of("coauthor_phy.npz");
  options.content.feature_type = FeatureType::fp16;
  options.content.largest_component = true;
  options.content.split.method = SplitMethod::per_class;
  const Graph graph = import_to(directory, options);
  validate(graph, true);
  EXPECT_EQ(graph.num_vertices(), 34493);
  EXPECT_EQ(graph.num_edges(), 495924);
  EXPECT_EQ(graph.features.columns, 8415);
  EXPECT_EQ(graph.num_classes, 5);
  EXPECT_EQ(graph.train.size(), 100U);
  EXPECT_EQ(graph.valid.size(), 150U);
  EXPECT_EQ(graph.test.size(), 34243U);
}

TEST(RealData, LargestComponentOfCoraIsConnected) {
  if (!std::filesystem::exists(path_of("cora.npz"))) {
    GTEST_SKIP() << "cora.npz is not in ../shared/data";
  }
  const test::TemporaryDirectory directory;
  ImportOptions options;
  options.source = path_of("cora.npz");
  options.content.largest_component = true;
  options.content.normalise_features = RowNorm::l1;
  const Graph graph = import_to(directory, options);
  EXPECT_EQ(graph.num_vertices(), 2485);  // Shchur et al. 2018 and many others
  EXPECT_EQ(graph.num_edges(), 2 * 5069);
  std::set<VertexId> reached{0};
  for (std::vector<VertexId> open{0}; !open.empty();) {
    const VertexId v = open.back();
    open.pop_back();
    for (const VertexId u : graph.neighbours(v)) {
      if (reached.insert(u).second) {
        open.push_back(u);
      }
    }
  }
  EXPECT_EQ(reached.size(), 2485U);
  const auto values = test::dense_values(graph.features);
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    const auto row = values.begin() + v * 1433;
    EXPECT_NEAR(std::accumulate(row, row + 1433, 0.0), 1, 1e-5);
  }
}

TEST(RealData, TenMasksAreTenSplits) {
  if (!std::filesystem::exists(path_of("tolokers.npz"))) {
    GTEST_SKIP() << "tolokers.npz is not in ../shared/data";
  }
  std::set<std::vector<VertexId>> trains;
  for (int mask = 0; mask < 10; ++mask) {
    const test::TemporaryDirectory directory;
    ImportOptions options;
    options.source = path_of("tolokers.npz");
    options.mask = mask;
    const Graph graph = import_to(directory, options);
    EXPECT_EQ(graph.train.size() + graph.valid.size() + graph.test.size(), 11758U);
    trains.insert({graph.train.begin(), graph.train.end()});
    // 21.8 % of the workers are of the positive class.
    EXPECT_NEAR(static_cast<double>(std::ranges::count(graph.labels, 1)) / 11758, 0.218, 0.0005);
  }
  EXPECT_EQ(trains.size(), 10U);
  const test::TemporaryDirectory directory;
  ImportOptions options;
  options.source = path_of("tolokers.npz");
  options.mask = 10;
  EXPECT_EQ(test::message_of("", [&] { import_to(directory, options); }),
            path_of("tolokers.npz") + ": train_masks: has no mask 10; use 0 to 9");
}

}  // namespace
}  // namespace gnomon::graph
