#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "graph/import/import.h"
#include "graph/store/store.h"
#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/graph/files.h"
#include "tests/graph/graph_parts.h"
#include "tests/graph/import/import_fixture.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

/// One row: source and weight of each edge.
Graph weighted_graph(std::int64_t vertices, std::vector<Edge> edges, EdgeOptions options = {}) {
  GraphParts parts;
  parts.num_vertices = vertices;
  parts.edges = std::move(edges);
  parts.edge_options = options;
  parts.weighted = true;
  const Graph graph = make_graph(std::move(parts));
  validate(graph, false);
  return graph;
}

/// What the options make of the edges, entry by entry.
WeightedRows expected_weighted_rows(std::int64_t vertices, const std::vector<Edge>& edges,
                                    const EdgeOptions& options) {
  std::vector<std::multimap<VertexId, float, std::less<>>> lists(static_cast<std::size_t>(vertices));
  std::vector<std::map<VertexId, float>> firsts(lists.size());
  std::vector<std::map<VertexId, float>> sums(lists.size());  // exact: weights are quarters
  const auto put = [&](VertexId source, VertexId destination, float weight) {
    const auto row = static_cast<std::size_t>(destination);
    lists[row].emplace(source, weight);
    firsts[row].emplace(source, weight);
    sums[row][source] += weight;
  };
  for (Edge edge : edges) {
    if (options.reverse) {
      std::swap(edge.source, edge.destination);
    }
    if (edge.source == edge.destination && options.self_loops != SelfLoops::keep) {
      continue;
    }
    put(edge.source, edge.destination, edge.weight);
    if (options.undirected && edge.source != edge.destination) {
      put(edge.destination, edge.source, edge.weight);
    }
  }
  WeightedRows rows;
  for (std::size_t v = 0; v < lists.size(); ++v) {
    if (options.self_loops == SelfLoops::add) {
      put(static_cast<VertexId>(v), static_cast<VertexId>(v), 1.0F);
    }
    if (options.duplicates == Duplicates::first || options.duplicates == Duplicates::sum) {
      const auto& row = options.duplicates == Duplicates::first ? firsts[v] : sums[v];
      rows.emplace_back(row.begin(), row.end());
      continue;
    }
    WeightedRows::value_type row(lists[v].begin(), lists[v].end());
    std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) {
      return a.first < b.first || (a.first == b.first && a.second > b.second);
    });
    if (options.duplicates != Duplicates::keep) {
      WeightedRows::value_type kept;
      for (const auto& entry : row) {
        if (kept.empty() || kept.back().first != entry.first) {
          kept.push_back(entry);
        }
      }
      row = kept;
    }
    rows.push_back(row);
  }
  return rows;
}

TEST(Weights, FollowTheirEdgesThroughEveryOption) {
  const test::RandomSeed seed(21);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 120; ++round) {
    const auto vertices = static_cast<std::int64_t>(1 + random() % 12);
    std::vector<Edge> edges(random() % 60);
    for (Edge& edge : edges) {
      const auto id = [&] { return static_cast<VertexId>(random() % static_cast<std::uint64_t>(vertices)); };
      edge = {id(), id(), static_cast<float>(random() % 8) / 4};
    }
    EdgeOptions options;
    options.undirected = (round & 1) != 0;
    options.reverse = (round & 2) != 0;
    constexpr Duplicates each[] = {Duplicates::remove, Duplicates::keep, Duplicates::sum, Duplicates::max,
                                   Duplicates::first};
    options.duplicates = each[round / 4 % 5];
    options.self_loops = static_cast<SelfLoops>(round % 3);
    EXPECT_EQ(weighted_rows_of(weighted_graph(vertices, edges, options)),
              expected_weighted_rows(vertices, edges, options))
        << "round " << round;
  }
}

TEST(Weights, OfDuplicatesAreSummedOrChosen) {
  const std::vector<Edge> edges{{0, 1, 1}, {0, 1, 3}, {1, 0, 5}, {0, 1, 2}, {2, 2, 1}, {2, 2, 1}};
  const auto with = [&](Duplicates duplicates, bool undirected) {
    return weighted_rows_of(weighted_graph(3, edges, {undirected, SelfLoops::keep, duplicates}));
  };
  EXPECT_EQ(with(Duplicates::sum, false), (WeightedRows{{{1, 5.0F}}, {{0, 6.0F}}, {{2, 2.0F}}}));
  EXPECT_EQ(with(Duplicates::max, false), (WeightedRows{{{1, 5.0F}}, {{0, 3.0F}}, {{2, 1.0F}}}));
  EXPECT_EQ(with(Duplicates::first, false), (WeightedRows{{{1, 5.0F}}, {{0, 1.0F}}, {{2, 1.0F}}}));
  EXPECT_EQ(with(Duplicates::sum, true), (WeightedRows{{{1, 11.0F}}, {{0, 11.0F}}, {{2, 2.0F}}}));
  EXPECT_EQ(with(Duplicates::first, true), (WeightedRows{{{1, 1.0F}}, {{0, 1.0F}}, {{2, 1.0F}}}));
  EXPECT_EQ(
      test::message_of("",
                       [] {
                         weighted_graph(2, {{0, 1, 3e38F}, {0, 1, 3e38F}}, {.duplicates = Duplicates::sum});
                       }),
      "graph: edges: the weights of the duplicate edges from vertex 0 add up to more than fp32 holds; use "
      "max "
      "or first for duplicates");
}

TEST(Weights, OfAStoreAreKept) {
  const test::TemporaryDirectory directory;
  const Graph graph = weighted_graph(3, {{0, 1, 0.5F}, {2, 1, 0}, {1, 0, 1e30F}});
  write_store(graph, directory / "g");
  const Graph opened = open_store(directory / "g");
  validate(opened, false);
  EXPECT_EQ(weighted_rows_of(opened), weighted_rows_of(graph));
  EXPECT_EQ(weighted_rows_of(opened), (WeightedRows{{{1, 1e30F}}, {{0, 0.5F}, {2, 0.0F}}, {}}));
}

TEST(Weights, ThatCannotBeDrawnByAreRefused) {
  const test::TemporaryDirectory directory;
  for (const float bad : {-1.0F, NAN, std::numeric_limits<float>::infinity()}) {
    const auto refused = test::message_of("", [&] { weighted_graph(2, {{0, 1, 1}, {1, 0, bad}}); });
    EXPECT_NE(refused.find("graph: edges: edge 1: weight "), std::string::npos) << refused;
    const auto store = directory / ("g" + std::to_string(bad));
    write_store(weighted_graph(2, {{0, 1, 1}, {1, 0, 2}}), store);
    write_text(store / "edge_weights.npy", floats({2}, {1, bad}));
    const auto found = test::message_of(store, [&] { validate(open_store(store), false); });
    EXPECT_NE(found.find("edge_weights.npy: weight "), std::string::npos) << found;
    EXPECT_NE(found.find(" at position 1; must be finite and not negative"), std::string::npos) << found;
  }
  write_store(weighted_graph(2, {{0, 1, 1}, {1, 0, 2}}), directory / "g");
  write_text(directory / "g/edge_weights.npy", floats({1}, {1}));
  EXPECT_THROW(open_store(directory / "g"), base::InputError);
}

class ImportWeights : public ImportFixture {
 protected:
  WeightedRows rows(const ImportOptions& options) { return weighted_rows_of(import(options)); }
  ImportOptions given(const std::string& file) const {
    ImportOptions options;
    options.source = directory_ / file;
    options.edge_weights = "given";
    return options;
  }
  ImportOptions from_array(const std::string& file, const std::vector<float>& weights) const {
    write_text(directory_ / "w.npy", floats({std::ssize(weights)}, weights));
    auto options = given(file);
    options.edge_weights = directory_ / "w.npy";
    return options;
  }
};

const WeightedRows sample_rows{{}, {{0, 0.5F}}, {{0, 2.0F}, {1, 0.0F}}};

TEST_F(ImportWeights, ReadsThoseOfEdgeLists) {
  for (const char* text : {"0 1 0.5\n0 2 2\n1 2 0\n", "# c\n1,2,0,more\n0,2,2.0\n0,1,5e-1\n"}) {
    write_text(directory_ / "e.csv", text);
    EXPECT_EQ(rows(given("e.csv")), sample_rows);
    auto without = given("e.csv");
    without.edge_weights = "";
    EXPECT_TRUE(import(without).edge_weights.empty());
  }
  write_text(directory_ / "e.csv", "70 100 0.5\n70 200 2\n100 200 0\n");
  auto relabelled = given("e.csv");
  relabelled.relabel = true;
  EXPECT_EQ(rows(relabelled), sample_rows);
  relabelled.content.edges.reverse = true;
  EXPECT_EQ(rows(relabelled), (WeightedRows{{{1, 0.5F}, {2, 2.0F}}, {{2, 0.0F}}, {}}));
}

TEST_F(ImportWeights, KeepsThoseOfTheLargestComponent) {
  write_text(directory_ / "e.txt", "0 1 9\n2 3 0.5\n2 4 2\n3 4 0\n");
  auto options = given("e.txt");
  options.content.largest_component = true;
  EXPECT_EQ(rows(options), sample_rows);
}

TEST_F(ImportWeights, ReadsThoseOfMatrices) {
  const std::string general = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 0.5\n1 3 2\n2 3 0\n";
  write_text(directory_ / "m.mtx", general);
  EXPECT_EQ(rows(given("m.mtx")), sample_rows);
  EXPECT_EQ(error(from_array("m.mtx", {1, 2, 3})),
            "edge_weights: cannot be a file for Matrix Market, whose values are the weights; use \"given\"");
  write_text(directory_ / "m.mtx",
             "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n2 1 3\n2 2 4\n");
  EXPECT_EQ(rows(given("m.mtx")), (WeightedRows{{{1, 3.0F}}, {{0, 3.0F}, {1, 4.0F}}}));
  write_text(directory_ / "m.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
  EXPECT_EQ(error(given("m.mtx")), "m.mtx: is a pattern without values; it has no weights");
}

TEST_F(ImportWeights, ReadsThoseOfNpz) {
  write_zip(directory_ / "a.npz", {{"adj_data", floats({3}, {0.5, 2, 0})},
                                   {"adj_indices", integers({3}, {1, 2, 2})},
                                   {"adj_indptr", integers({4}, {0, 2, 3, 3})},
                                   {"adj_shape", integers({2}, {3, 3})}});
  EXPECT_EQ(rows(given("a.npz")), sample_rows);
  write_zip(directory_ / "b.npz", {{"edges", integers({3, 2}, {0, 1, 0, 2, 1, 2})},
                                   {"edge_weights", floats({3}, {0.5, 2, 0})},
                                   {"node_labels", integers({3}, {0, 1, 0})}});
  EXPECT_EQ(rows(given("b.npz")), sample_rows);
  write_zip(directory_ / "b.npz",
            {{"edges", integers({3, 2}, {0, 1, 0, 2, 1, 2})}, {"node_labels", integers({3}, {0, 1, 0})}});
  EXPECT_NE(error(given("b.npz")).find("edge_weights"), std::string::npos);
  EXPECT_EQ(rows(from_array("b.npz", {0.5, 2, 0})), sample_rows);
}

TEST_F(ImportWeights, ReadsThoseOfOgb) {
  std::filesystem::create_directories(directory_ / "ogb/raw");
  write_gzip(directory_ / "ogb/raw/edge.csv.gz", "0,1\n0,2\n1,2\n");
  write_gzip(directory_ / "ogb/raw/num-node-list.csv.gz", "3\n");
  write_gzip(directory_ / "ogb/raw/edge_weight.csv.gz", "0.5\n2\n0\n");
  EXPECT_EQ(rows(given("ogb")), sample_rows);
  write_gzip(directory_ / "ogb/raw/edge_weight.csv.gz", "0.5\n2\n");
  EXPECT_EQ(error(given("ogb")),
            "ogb/raw/edge_weight.csv.gz: line 2: must be followed by more weights, one per edge");
  write_gzip(directory_ / "ogb/raw/edge_weight.csv.gz", "0.5\n2\n0\n1\n");
  EXPECT_EQ(error(given("ogb")),
            "ogb/raw/edge_weight.csv.gz: line 4: is one weight too many; there must be one per edge");
  write_gzip(directory_ / "ogb/raw/edge_weight.csv.gz", "0.5\ntwo\n0\n");
  EXPECT_EQ(error(given("ogb")), "ogb/raw/edge_weight.csv.gz: line 2: must be one weight, not \"two\"");
  write_zip(directory_ / "ogb/raw/data.npz", {{"edge_index", integers({2, 3}, {0, 0, 1, 1, 2, 2})},
                                              {"num_nodes_list", integers({1}, {3})},
                                              {"edge_weight", floats({3, 1}, {0.5, 2, 0})}});
  EXPECT_EQ(rows(given("ogb")), sample_rows);
}

TEST_F(ImportWeights, FaultsNameTheirPlace) {
  write_text(directory_ / "e.txt", "0 1 0.5\n0 2\n");
  EXPECT_EQ(error(given("e.txt")),
            "e.txt: line 2: must be two vertex ids and a weight, finite and not negative, not \"0 2\"");
  for (const char* bad : {"-1", "nan", "inf", "1e99", "w"}) {
    write_text(directory_ / "e.txt", "0 1 " + std::string(bad) + "\n");
    EXPECT_NE(error(given("e.txt")).find("e.txt: line 1: must be two vertex ids and a weight"),
              std::string::npos);
  }
  write_text(directory_ / "e.txt", "0 1\n0 2\n1 2\n");
  EXPECT_EQ(rows(from_array("e.txt", {0.5, 2, 0})), sample_rows);
  EXPECT_EQ(error(from_array("e.txt", {0.5, 2})), "w.npy: has 2 weights, fewer than there are edges");
  EXPECT_EQ(error(from_array("e.txt", {1, 2, 3, 4})), "w.npy: has 4 weights; must be 3, one per edge");
  EXPECT_EQ(error(from_array("e.txt", {1, -2, 3})),
            "e.txt: edge 1: weight -2.000000 is invalid; use finite numbers from 0");
}

}  // namespace
}  // namespace gnomon::graph
