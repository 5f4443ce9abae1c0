#include "graph/store/csc_builder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/fixtures/message_of.h"
#include "tests/fixtures/temporary_directory.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

struct Csc {
  std::vector<std::int64_t> indptr;
  std::vector<VertexId> indices;
  std::vector<float> weights;
  bool operator==(const Csc&) const = default;
};

/// Builds from the edges as a stream of blocks of these sizes, one after the other.
Csc build(const CscRequest& request, const std::vector<Edge>& edges, const std::vector<std::size_t>& blocks) {
  Csc csc;
  const auto stream = [&](const EdgeVisitor& visit) {
    std::size_t begin = 0;
    for (std::size_t i = 0; begin < edges.size(); ++i) {
      const std::size_t size = std::min(blocks[i % blocks.size()], edges.size() - begin);
      visit(std::span(edges).subspan(begin, size));
      begin += size;
    }
  };
  csc.indptr = build_csc(request, stream, [&](std::int64_t count) {
    csc.indices.resize(static_cast<std::size_t>(count));
    csc.weights.resize(request.weighted ? csc.indices.size() : 0);
    return EdgeBuffers{csc.indices.data(), csc.weights.data()};
  });
  csc.indices.resize(static_cast<std::size_t>(csc.indptr.back()));
  csc.weights.resize(request.weighted ? csc.indices.size() : 0);
  return csc;
}

/// One edge of each pair of vertices, by a map; its weight as the options say.
Csc reference(const CscRequest& request, const std::vector<Edge>& edges) {
  std::map<std::pair<VertexId, VertexId>, double> entries;  // destination, source
  const auto put = [&](VertexId source, VertexId destination, double weight) {
    const auto [entry, is_new] = entries.try_emplace({destination, source}, weight);
    if (!is_new && request.options.duplicates == Duplicates::sum) {
      entry->second += weight;
    } else if (!is_new && request.options.duplicates == Duplicates::max) {
      entry->second = std::max(entry->second, weight);
    }
  };
  for (const Edge& edge : edges) {
    put(edge.source, edge.destination, edge.weight);
    if (request.options.undirected && edge.source != edge.destination) {
      put(edge.destination, edge.source, edge.weight);
    }
  }
  Csc csc;
  csc.indptr.assign(static_cast<std::size_t>(request.num_vertices) + 1, 0);
  for (const auto& [ends, weight] : entries) {
    ++csc.indptr[static_cast<std::size_t>(ends.first) + 1];
    csc.indices.push_back(ends.second);
    csc.weights.push_back(static_cast<float>(weight));
  }
  for (std::size_t v = 1; v < csc.indptr.size(); ++v) {
    csc.indptr[v] += csc.indptr[v - 1];
  }
  if (!request.weighted) {
    csc.weights.clear();
  }
  return csc;
}

std::vector<Edge> random_edges(std::mt19937& random, std::int64_t vertices, std::size_t count) {
  std::uniform_int_distribution<VertexId> vertex(0, vertices - 1);
  std::vector<Edge> edges(count);
  for (Edge& edge : edges) {
    // Few sources and one row of many edges, so that there are duplicates.
    edge = {vertex(random) % 50, random() % 10 == 0 ? vertices / 2 : vertex(random),
            static_cast<float>(random() % 1000) / 8};
  }
  return edges;
}

TEST(CscBuilder, AgreesWithMapsWhateverTheResources) {
  const test::RandomSeed seed(20261123);
  std::mt19937 random(seed);
  const test::TemporaryDirectory directory;
  constexpr std::int64_t vertices = 30'000;  // in several buckets
  const auto edges = random_edges(random, vertices, 200'000);
  for (const bool weighted : {false, true}) {
    for (const auto duplicates : {Duplicates::sum, Duplicates::max, Duplicates::first}) {
      CscRequest request{vertices, {random() % 2 == 0, SelfLoops::keep, duplicates}, weighted, "edges", {}};
      const Csc expected = reference(request, edges);
      for (const int threads : {1, 3}) {
        request.resources = {threads, 0, {}};
        EXPECT_EQ(build(request, edges, {edges.size()}), expected) << threads << " threads";
        request.resources = {threads, 1, directory.path()};  // as good as everything on disk
        EXPECT_EQ(build(request, edges, {1, 40'000, 7}), expected) << threads << " threads, on disk";
      }
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(CscBuilder, WritesIdsOf32BitsWhereTheseAreAskedFor) {
  const test::RandomSeed seed(11);
  std::mt19937 random(seed);
  const auto edges = random_edges(random, 20'000, 50'000);
  for (const bool weighted : {false, true}) {
    const CscRequest request{20'000, {.undirected = true}, weighted, "edges", {.threads = 3}};
    const Csc expected = build(request, edges, {edges.size()});
    std::vector<std::uint32_t> narrow;
    std::vector<float> weights;
    const auto stream = [&](const EdgeVisitor& visit) { visit(edges); };
    const auto indptr = build_csc(request, stream, [&](std::int64_t count) {
      narrow.resize(static_cast<std::size_t>(count));
      weights.resize(weighted ? narrow.size() : 0);
      return EdgeBuffers{nullptr, weighted ? weights.data() : nullptr, narrow.data()};
    });
    narrow.resize(static_cast<std::size_t>(indptr.back()));
    weights.resize(weighted ? narrow.size() : 0);
    EXPECT_EQ(indptr, expected.indptr);
    EXPECT_TRUE(std::ranges::equal(narrow, expected.indices));
    EXPECT_EQ(weights, expected.weights);
  }
}

TEST(CscBuilder, NamesTheFirstEdgeAtFault) {
  const test::RandomSeed seed(7);
  std::mt19937 random(seed);
  auto edges = random_edges(random, 1000, 100'000);
  edges[90'000].source = -3;
  edges[70'001].destination = 1000;
  edges[70'002].weight = -1;
  CscRequest request{1000, {}, true, "edges", {.threads = 3}};
  EXPECT_EQ(test::message_of("", [&] { build(request, edges, {60'000}); }),
            "edges: edge 70001: vertex id 1000 is out of range; use 0 to 999");
}

TEST(CscBuilder, RefusesSumsBeyondFp32) {
  const CscRequest request{5000, {.duplicates = Duplicates::sum}, true, "weights", {.threads = 2}};
  EXPECT_EQ(test::message_of("",
                             [&] {
                               build(request, {{1, 4999, 3e38F}, {1, 4999, 3e38F}}, {2});
                             }),
            "weights: the weights of the duplicate edges from vertex 1 add up to more than fp32 holds; use "
            "max or first for duplicates");
}

}  // namespace
}  // namespace gnomon::graph
