#include "graph/order/reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "base/index.h"
#include "graph/generate/generate.h"
#include "graph/import/import.h"
#include "graph/store/builder.h"
#include "graph/store/store.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/sparse_features.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/random_seed.h"

// Reordered graphs are the same graphs under other names.

namespace gnomon::graph {
namespace {

using base::at;

/// A graph of skewed degrees in several components, with features, labels and splits.
Graph random_graph(std::mt19937_64& random) {
  GraphParts parts;
  parts.num_vertices = 1 + static_cast<std::int64_t>(random() % 300);
  const auto below = [&](std::int64_t most) { return static_cast<std::int64_t>(random() % at(most)); };
  const auto edges = below(4 * parts.num_vertices);
  for (std::int64_t i = 0; i < edges; ++i) {
    const auto hub = below(1 + below(parts.num_vertices));
    parts.edges.push_back({below(4) == 0 ? hub : below(parts.num_vertices), below(parts.num_vertices),
                           static_cast<float>(below(1000))});
  }
  parts.weighted = below(2) == 0;
  parts.feature_columns = 3;
  parts.feature_type = below(2) == 0 ? FeatureType::fp32 : FeatureType::fp16;
  for (std::int64_t v = 0; v < parts.num_vertices; ++v) {
    parts.features.insert(parts.features.end(), {static_cast<float>(v), static_cast<float>(below(99)), 1.0F});
    parts.labels.push_back(static_cast<std::int32_t>(below(5)));
    const auto set = below(4);
    if (set < 3) {
      (set == 0 ? parts.train : set == 1 ? parts.valid : parts.test).push_back(v);
    }
  }
  return with_features_in(make_graph(std::move(parts)),
                          below(2) == 0 ? FeatureForm::dense : FeatureForm::sparse);
}

/// What a graph says in the data's own ids.
struct Facts {
  std::vector<std::tuple<VertexId, VertexId, float>> edges;
  std::map<VertexId, std::vector<std::byte>> features;
  std::map<VertexId, std::int32_t> labels;
  std::vector<std::vector<VertexId>> splits;
  bool operator==(const Facts&) const = default;
};

Facts facts_of(const Graph& graph) {
  Facts facts;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    const auto name = graph.original_id(v);
    for (auto e = at(graph.indptr[at(v)]); e < at(graph.indptr[at(v) + 1]); ++e) {
      facts.edges.emplace_back(graph.original_id(graph.indices[e]), name,
                               graph.edge_weights.empty() ? -1.0F : graph.edge_weights[e]);
    }
    facts.features[name] = test::dense_row(graph.features, v);
    facts.labels[name] = graph.labels[at(v)];
  }
  std::sort(facts.edges.begin(), facts.edges.end());
  for (const auto& split : {graph.train, graph.valid, graph.test}) {
    auto& names = facts.splits.emplace_back();
    std::transform(split.begin(), split.end(), std::back_inserter(names),
                   [&](VertexId v) { return graph.original_id(v); });
    std::sort(names.begin(), names.end());
  }
  return facts;
}

std::vector<VertexId> sorted(std::vector<VertexId> vertices) {
  std::sort(vertices.begin(), vertices.end());
  return vertices;
}

class Reorder : public testing::TestWithParam<VertexOrder> {};

TEST_P(Reorder, KeepsTheGraph) {
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 30; ++i) {
    const Graph graph = random_graph(random);
    const auto order = vertices_in_order(graph, GetParam());
    std::vector<VertexId> all(at(graph.num_vertices()));
    std::iota(all.begin(), all.end(), 0);
    ASSERT_EQ(sorted(order), all);
    const Graph result = reordered(graph, order);
    validate(result, false);
    EXPECT_EQ(facts_of(result), facts_of(graph));
    // Twice: the names are still the data's.
    EXPECT_EQ(facts_of(reordered(result, vertices_in_order(result, GetParam()))), facts_of(graph));
    for (VertexId v = 0; v < result.num_vertices(); ++v) {
      EXPECT_TRUE(std::is_sorted(result.neighbours(v).begin(), result.neighbours(v).end()));
    }
  }
}

TEST_P(Reorder, AStoreHasTheOrderAndTheDatasIds) {
  const test::TemporaryDirectory directory;
  PlantedPartition options;
  options.vertices = 500;
  options.classes = 4;
  options.feature_columns = 4;
  generate(options, directory / "plain");
  write_in_order(GetParam(), directory / "ordered",
                 [&](const std::filesystem::path& store) { generate(options, store); });
  const Graph plain = open_store(directory / "plain");
  const Graph ordered = open_store(directory / "ordered");
  validate(ordered, true);
  EXPECT_EQ(facts_of(ordered), facts_of(plain));
  EXPECT_EQ(ordered.original_ids.empty(), GetParam() == VertexOrder::none);
  EXPECT_EQ(read_store_meta(directory / "ordered").order, GetParam());
  EXPECT_FALSE(std::filesystem::exists(directory / "ordered" / "unordered"));
  // Equal to what is made in memory.
  const Graph in_memory = reordered(plain, vertices_in_order(plain, GetParam()));
  EXPECT_TRUE(std::ranges::equal(ordered.indptr, in_memory.indptr));
  EXPECT_TRUE(std::ranges::equal(ordered.indices, in_memory.indices));
}

TEST_P(Reorder, AStoreKeepsSparseFeatures) {
  for (const auto kind : {test::Values::normal, test::Values::ones}) {
    const test::TemporaryDirectory directory;
    const Graph dense = test::with_features(test::skewed_graph(80, 6), test::mostly_zero(80, 30, 7, kind, 2),
                                            30, FeatureType::fp16);
    const Graph plain = with_features_in(dense, FeatureForm::sparse);
    write_in_order(GetParam(), directory / "ordered",
                   [&](const std::filesystem::path& store) { write_store(plain, store); });
    const Graph ordered = open_store(directory / "ordered");
    validate(ordered, false);
    ASSERT_TRUE(ordered.features.is_sparse());
    EXPECT_EQ(ordered.features.bytes(), plain.features.bytes());
    for (VertexId v = 0; v < ordered.num_vertices(); ++v) {
      ASSERT_EQ(test::dense_row(ordered.features, v),
                test::dense_row(dense.features, ordered.original_id(v)));
    }
  }
}

TEST_P(Reorder, AnImportKeepsTheIdsOfItsFile) {
  // Ids 7, 8, 9, 30 and 70 are relabelled 0 … 4, then ordered; labels tell which is which.
  const test::TemporaryDirectory directory;
  base::write_file_atomically(directory / "edges.txt", "7 70 1\n8 70 2\n9 70 3\n30 70 4\n70 7 5\n8 9 6\n");
  ImportOptions options;
  options.source = (directory / "edges.txt").string();
  options.relabel = true;
  options.edge_weights = "given";
  options.random_features = 2;
  options.random_classes = 3;
  import_graph(options, directory / "plain");
  options.order = GetParam();
  import_graph(options, directory / "ordered");
  const Graph plain = open_store(directory / "plain");
  const Graph ordered = open_store(directory / "ordered");
  EXPECT_EQ(facts_of(ordered), facts_of(plain));
  EXPECT_EQ(sorted({ordered.original_ids.begin(), ordered.original_ids.end()}),
            (std::vector<VertexId>{7, 8, 9, 30, 70}));
}

TEST_P(Reorder, AFailureLeavesNothing) {
  const test::TemporaryDirectory directory;
  EXPECT_THROW(write_in_order(GetParam(), directory / "g",
                              [](const std::filesystem::path&) { throw base::InputError("edges", "bad"); }),
               base::InputError);
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

INSTANTIATE_TEST_SUITE_P(Orders, Reorder,
                         testing::Values(VertexOrder::none, VertexOrder::degree, VertexOrder::rcm),
                         [](const auto& named) { return std::string(base::name_of(named.param)); });

Graph graph_of(std::int64_t vertices, std::vector<Edge> edges) {
  GraphParts parts;
  parts.num_vertices = vertices;
  parts.edges = std::move(edges);
  return make_graph(std::move(parts));
}

TEST(VertexOrders, DegreeIsByHowManyGatherFromAVertex) {
  // 2 is used by three, 0 by two, 3 by one, 1 and 4 by none: equals stay in order.
  const Graph graph = graph_of(5, {{2, 0}, {2, 1}, {2, 4}, {0, 1}, {0, 3}, {3, 4}});
  EXPECT_EQ(vertices_in_order(graph, VertexOrder::degree), (std::vector<VertexId>{2, 0, 3, 1, 4}));
}

std::int64_t bandwidth(const Graph& graph) {
  std::int64_t widest = 0;
  for (VertexId v = 0; v < graph.num_vertices(); ++v) {
    for (const VertexId u : graph.neighbours(v)) {
      widest = std::max(widest, std::abs(u - v));
    }
  }
  return widest;
}

TEST(VertexOrders, RcmUndoesAShuffleOfAPathAndOfAGrid) {
  // A path has bandwidth 1 in its own order; a grid of 30 x 8, counted along the short side, 8. A
  // Cuthill-McKee order begun in a corner goes by diagonals, at most as long, and neighbours lie on two that
  // follow each other.
  const test::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (const std::int64_t width : {1, 8}) {
    const std::int64_t length = 30;
    std::vector<VertexId> names(at(length * width));
    std::iota(names.begin(), names.end(), 0);
    std::shuffle(names.begin(), names.end(), random);
    std::vector<Edge> edges;
    for (std::int64_t i = 0; i < length * width; ++i) {
      if (i + width < length * width) {
        edges.push_back({names[at(i)], names[at(i + width)]});
      }
      if ((i + 1) % width != 0) {
        edges.push_back({names[at(i)], names[at(i + 1)]});  // one direction: the order takes both
      }
    }
    const Graph graph = graph_of(length * width, edges);
    EXPECT_LE(bandwidth(reordered(graph, vertices_in_order(graph, VertexOrder::rcm))), 2 * width - 1);
  }
}

TEST(VertexOrders, RcmIsQuickWithManyComponents) {
  // A search over all vertices for each component would take hours.
  std::vector<Edge> edges;
  const std::int64_t vertices = 300000;
  for (std::int64_t v = 0; v < vertices; v += 3) {
    edges.push_back({v, v + 1});
  }
  const Graph graph = graph_of(vertices, edges);
  const Graph result = reordered(graph, vertices_in_order(graph, VertexOrder::rcm));
  EXPECT_EQ(bandwidth(result), 1);
}

}  // namespace
}  // namespace gnomon::graph
