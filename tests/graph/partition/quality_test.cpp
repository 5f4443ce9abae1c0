#include "graph/partition/quality.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/index.h"
#include "communities.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

using base::at;

TEST(PartitionQuality, IsThatOfCountingEachPart) {
  const test::RandomSeed seed;
  const auto graph = test::with_labels(test::skewed_graph(200, seed), 3, seed);
  constexpr int parts = 7;
  const auto part_of = partition(graph, {PartitionMethod::random, parts, seed});
  std::int64_t cut = 0, largest = 0, perfect = 0;
  std::vector<std::int64_t> vertices, train, edges;
  for (int part = 0; part < parts; ++part) {
    const auto in_part = [&](VertexId vertex) { return part_of[at(vertex)] == part; };
    vertices.push_back(std::count(part_of.begin(), part_of.end(), part));
    train.push_back(std::count_if(graph.train.begin(), graph.train.end(), in_part));
    edges.push_back(0);
    for (VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
      edges.back() += in_part(vertex) ? graph.degree(vertex) : 0;
      for (const VertexId neighbour : graph.neighbours(vertex)) {
        cut += in_part(vertex) && !in_part(neighbour) ? 1 : 0;
      }
    }
  }
  for (std::int32_t label = 0; label < 3; ++label) {
    std::int64_t most = 0, all = 0;
    for (int part = 0; part < parts; ++part) {
      const auto count = std::count_if(graph.train.begin(), graph.train.end(), [&](VertexId vertex) {
        return graph.labels[at(vertex)] == label && part_of[at(vertex)] == part;
      });
      most = std::max<std::int64_t>(most, count);
      all += count;
    }
    largest += most;
    perfect += (all + parts - 1) / parts;
  }
  const auto quality = quality_of(graph, part_of, parts);
  EXPECT_DOUBLE_EQ(quality.cut_share, static_cast<double>(cut) / static_cast<double>(graph.num_edges()));
  EXPECT_EQ(quality.vertices.min, *std::min_element(vertices.begin(), vertices.end()));
  EXPECT_EQ(quality.vertices.max, *std::max_element(vertices.begin(), vertices.end()));
  EXPECT_EQ(quality.train.min, *std::min_element(train.begin(), train.end()));
  EXPECT_EQ(quality.train.max, *std::max_element(train.begin(), train.end()));
  EXPECT_EQ(quality.edges.min, *std::min_element(edges.begin(), edges.end()));
  EXPECT_EQ(quality.edges.max, *std::max_element(edges.begin(), edges.end()));
  EXPECT_DOUBLE_EQ(quality.label_imbalance, static_cast<double>(largest) / static_cast<double>(perfect));
}

TEST(PartitionQuality, OfGraphsWithoutEdgesAndLabels) {
  const auto quality = quality_of(test::graph_of({{}, {}}), {0, 0}, 2);
  EXPECT_EQ(quality.cut_share, 0);
  EXPECT_EQ(quality.label_imbalance, 1);
  EXPECT_EQ(quality.vertices.min, 0);
  EXPECT_EQ(quality.vertices.max, 2);
}

}  // namespace
}  // namespace gnomon::graph
