#include "graph/store/builder.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "graph/feature_bits.h"
#include "graph/generate/generate.h"
#include "tests/fixtures/message_of.h"
#include "tests/graph/graph_parts.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

Rows build(std::int64_t vertices, std::vector<Edge> edges, EdgeOptions options) {
  GraphParts parts;
  parts.num_vertices = vertices;
  parts.edges = std::move(edges);
  parts.edge_options = options;
  const Graph graph = make_graph(std::move(parts));
  validate(graph, false);
  return rows_of(graph);
}

const std::vector<Edge> sample_edges{{2, 0}, {1, 0}, {2, 0}, {1, 1}, {1, 1}, {0, 2}};

TEST(Builder, OptionsSayDirectionsLoopsAndDuplicates) {
  EXPECT_EQ(build(3, sample_edges, {}), (Rows{{1, 2}, {1}, {0}}));
  EXPECT_EQ(build(3, sample_edges, {false, SelfLoops::keep, Duplicates::keep}),
            (Rows{{1, 2, 2}, {1, 1}, {0}}));
  EXPECT_EQ(build(3, sample_edges, {false, SelfLoops::remove, Duplicates::remove}), (Rows{{1, 2}, {}, {0}}));
  EXPECT_EQ(build(3, sample_edges, {false, SelfLoops::add, Duplicates::keep}),
            (Rows{{0, 1, 2, 2}, {1}, {0, 2}}));
  EXPECT_EQ(build(3, sample_edges, {true, SelfLoops::keep, Duplicates::remove}), (Rows{{1, 2}, {0, 1}, {0}}));
  EXPECT_EQ(build(3, sample_edges, {true, SelfLoops::keep, Duplicates::keep}),
            (Rows{{1, 2, 2, 2}, {0, 1, 1}, {0, 0, 0}}));
}

TEST(Builder, BuildsGraphsWithoutVerticesOrEdges) {
  EXPECT_EQ(build(0, {}, {}), Rows{});
  EXPECT_EQ(build(2, {}, {}), (Rows{{}, {}}));
  EXPECT_EQ(build(1, {}, {true, SelfLoops::add, Duplicates::remove}), (Rows{{0}}));
}

/// Entries with their multiplicity, by maps.
Rows expected_rows(std::int64_t vertices, const std::vector<Edge>& edges, EdgeOptions options) {
  std::map<std::pair<VertexId, VertexId>, int> entries;  // destination, source
  for (const Edge& edge : edges) {
    const bool loop = edge.source == edge.destination;
    if (!loop || options.self_loops == SelfLoops::keep) {
      ++entries[{edge.destination, edge.source}];
    }
    if (!loop && options.undirected) {
      ++entries[{edge.source, edge.destination}];
    }
  }
  for (VertexId v = 0; options.self_loops == SelfLoops::add && v < vertices; ++v) {
    entries[{v, v}] = 1;
  }
  Rows rows(static_cast<std::size_t>(vertices));
  for (const auto& [entry, count] : entries) {
    const int copies = options.duplicates == Duplicates::keep ? count : 1;
    rows[static_cast<std::size_t>(entry.first)].insert(rows[static_cast<std::size_t>(entry.first)].end(),
                                                       static_cast<std::size_t>(copies), entry.second);
  }
  return rows;
}

TEST(Builder, AgreesWithMapsOnRandomEdges) {
  const test::RandomSeed seed(20240611);
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    const auto vertices = static_cast<std::int64_t>(1 + random() % 40);
    std::vector<Edge> edges(random() % 300);
    for (Edge& edge : edges) {
      edge = {static_cast<VertexId>(random() % static_cast<unsigned>(vertices)),
              static_cast<VertexId>(random() % static_cast<unsigned>(vertices))};
    }
    for (const bool undirected : {false, true}) {
      for (const auto loops : {SelfLoops::keep, SelfLoops::remove, SelfLoops::add}) {
        for (const auto duplicates : {Duplicates::remove, Duplicates::keep}) {
          const EdgeOptions options{undirected, loops, duplicates};
          ASSERT_EQ(build(vertices, edges, options), expected_rows(vertices, edges, options));
        }
      }
    }
  }
}

TEST(Builder, BuildsTheSmallestGraphs) {
  const EdgeOptions both{.undirected = true};
  EXPECT_EQ(build(4, ring_edges(4), both), (Rows{{1, 3}, {0, 2}, {1, 3}, {0, 2}}));
  EXPECT_EQ(build(3, path_edges(3), both), (Rows{{1}, {0, 2}, {1}}));
  EXPECT_EQ(build(4, star_edges(4), {}), (Rows{{1, 2, 3}, {}, {}, {}}));
  EXPECT_EQ(build(3, complete_edges(3), both), (Rows{{1, 2}, {0, 2}, {0, 1}}));
}

TEST(Builder, RefusesBadIdsAndSizes) {
  EXPECT_EQ(test::message_of("",
                             [] {
                               build(3, {{0, 1}, {3, 0}}, {});
                             }),
            "graph: edges: edge 1: vertex id 3 is out of range; use 0 to 2");
  EXPECT_EQ(test::message_of("",
                             [] {
                               build(3, {{0, -1}}, {});
                             }),
            "graph: edges: edge 0: vertex id -1 is out of range; use 0 to 2");
  GraphParts parts;
  parts.num_vertices = 2;
  parts.labels = {0};
  EXPECT_EQ(test::message_of("", [&] { make_graph(parts); }),
            "graph: labels: must have one element per vertex");
}

TEST(Half, EveryValueSurvivesAndRoundingIsToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = float_from_half(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_half(half_from_float(value))));
    } else {
      ASSERT_EQ(half_from_float(value), half);
    }
  }
  // Between two neighbours the nearer one, halfway the even one.
  for (std::uint32_t bits = 0; bits < 0x7BFFU; ++bits) {
    const float low = float_from_half(static_cast<std::uint16_t>(bits));
    const float high = float_from_half(static_cast<std::uint16_t>(bits + 1));
    const float middle = (low + high) / 2;
    ASSERT_EQ(half_from_float(middle), bits + (bits & 1U));
    ASSERT_EQ(half_from_float(std::nextafter(middle, low)), bits);
    ASSERT_EQ(half_from_float(std::nextafter(middle, high)), bits + 1);
  }
  EXPECT_EQ(half_from_float(65519.9F), 0x7BFF);
  EXPECT_EQ(half_from_float(65520.0F), 0x7C00);
  EXPECT_EQ(half_from_float(-1e10F), 0xFC00);
}

/// Between neighbouring numbers of 16 bits the nearer one, halfway the even one, by arithmetic in fp64.
TEST(Bf16, EveryValueSurvivesAndRoundingIsToNearestEven) {
  for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
    const auto number = static_cast<std::uint16_t>(bits);
    const float value = float_from_bf16(number);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(value))));
    } else {
      ASSERT_EQ(bf16_from_float(value), number);
    }
  }
  for (std::uint32_t bits = 0; bits < 0x7F7FU; ++bits) {
    const auto low = static_cast<double>(float_from_bf16(static_cast<std::uint16_t>(bits)));
    const auto high = static_cast<double>(float_from_bf16(static_cast<std::uint16_t>(bits + 1)));
    const auto middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(bf16_from_float(middle), bits + (bits & 1U));
    ASSERT_EQ(bf16_from_float(std::nextafter(middle, 0.0F)), bits);
    ASSERT_EQ(bf16_from_float(std::nextafter(middle, INFINITY)), bits + 1);
    ASSERT_EQ(bf16_from_float(-middle), 0x8000U + bits + (bits & 1U));
  }
  EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(std::bit_cast<float>(0x7F800001U)))));
}

}  // namespace
}  // namespace gnomon::graph
