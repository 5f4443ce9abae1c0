#include "graph/partition/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/index.h"
#include "communities.h"
#include "graph/generate/generate.h"
#include "graph/partition/quality.h"
#include "tests/fixtures/message_of.h"
#include "tests/random_seed.h"

namespace gnomon::graph {
namespace {

using base::at;

bool has_metis() {
  try {
    partition(test::hub_graph(1), {PartitionMethod::metis, 1});
    return true;
  } catch (const base::InputError&) {
    return false;
  }
}

class EveryMethod : public ::testing::TestWithParam<PartitionMethod> {
 protected:
  void SetUp() override {
    if (GetParam() == PartitionMethod::metis && !has_metis()) {
      GTEST_SKIP() << "this build has no METIS";
    }
  }
};

TEST_P(EveryMethod, GivesEachVertexAPart) {
  const test::RandomSeed seed;
  for (const int parts : {1, 2, 5, 32}) {
    for (const auto& graph :
         {test::with_labels(test::skewed_graph(300, seed), 3, seed), test::community_graph(200, 4, 6, seed),
          test::graph_of(std::vector<std::vector<VertexId>>(40)),
          test::graph_of({{0, 0, 1}, {1}, {0}, {}})}) {
      const int count = std::min<int>(parts, static_cast<int>(graph.num_vertices()));
      const auto part_of = partition(graph, {GetParam(), count});
      ASSERT_EQ(std::ssize(part_of), graph.num_vertices());
      EXPECT_GE(*std::min_element(part_of.begin(), part_of.end()), 0);
      EXPECT_LT(*std::max_element(part_of.begin(), part_of.end()), count);
    }
  }
}

TEST_P(EveryMethod, GivesTheSamePartsAgain) {
  const auto graph = test::with_labels(test::community_graph(400, 5, 8, 3), 4, 3);
  const PartitionRequest request{GetParam(), 5, 11};
  EXPECT_EQ(partition(graph, request), partition(graph, request));
}

TEST_P(EveryMethod, RefusesMorePartsThanVertices) {
  const auto graph = test::hub_graph(4);
  const auto refusal = [&](int parts) {
    return test::message_of("", [&] { partition(graph, {GetParam(), parts}); });
  };
  EXPECT_EQ(refusal(6), "parts: 6 is out of range; use 1 to 5, the number of the graph's vertices");
  EXPECT_EQ(refusal(0), "parts: 0 is out of range; use 1 to 5, the number of the graph's vertices");
}

INSTANTIATE_TEST_SUITE_P(Partition, EveryMethod,
                         ::testing::Values(PartitionMethod::random, PartitionMethod::metis,
                                           PartitionMethod::gnn_aware),
                         [](const auto& instance) { return std::string(base::name_of(instance.param)); });

TEST(MetisPartition, IsRefusedByBuildsWithoutIt) {
  if (has_metis()) {
    GTEST_SKIP() << "this build has METIS";
  }
  EXPECT_EQ(test::message_of("",
                             [] {
                               partition(test::hub_graph(4), {PartitionMethod::metis, 2});
                             }),
            "method: this build has no METIS; use \"gnn_aware\", or install libmetis-dev and build again");
}

TEST(RandomPartition, HasPartsOfEqualSizesThatDependOnTheSeed) {
  const auto graph = test::community_graph(103, 4, 6, 1);
  const auto parts = partition(graph, {PartitionMethod::random, 10, 5});
  for (int part = 0; part < 10; ++part) {
    EXPECT_THAT(std::count(parts.begin(), parts.end(), part), ::testing::AnyOf(10, 11));
  }
  EXPECT_NE(parts, partition(graph, {PartitionMethod::random, 10, 6}));
}

double cut_of(const Graph& graph, const PartitionRequest& request) {
  return quality_of(graph, partition(graph, request), request.parts).cut_share;
}

TEST(Partition, CommunitiesAreFoundByAllButChance) {
  const test::RandomSeed seed;
  const auto graph = test::community_graph(3200, 8, 16, seed);
  const double random = cut_of(graph, {PartitionMethod::random, 8});
  EXPECT_NEAR(random, 7.0 / 8, 0.02);
  const double once = cut_of(graph, {PartitionMethod::gnn_aware, 8, 0, 1});
  const double refined = cut_of(graph, {PartitionMethod::gnn_aware, 8, 0, 20});
  EXPECT_LT(once, random);
  EXPECT_LT(refined, once);
  EXPECT_LT(refined, 0.5 * random);
  if (has_metis()) {
    EXPECT_LT(cut_of(graph, {PartitionMethod::metis, 8}), 0.2);
  }
}

/// The rule of GAP with all parts as candidates.
PartOf by_the_rule(const Graph& graph, int parts, int passes) {
  const auto vertices = static_cast<double>(graph.num_vertices());
  std::vector<std::int32_t> labels(at(graph.num_vertices()), graph.num_classes);
  for (const VertexId vertex : graph.train) {
    const auto label = graph.labels[at(vertex)];
    labels[at(vertex)] = label < 0 ? graph.num_classes : label;
  }
  const double alpha = std::sqrt(parts) * static_cast<double>(graph.num_edges()) / std::pow(vertices, 1.5);
  PartOf part_of(labels.size(), -1);
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t vertex = 0; vertex < part_of.size(); ++vertex) {
      part_of[vertex] = -1;
      const double of_label = static_cast<double>(std::count(labels.begin(), labels.end(), labels[vertex]));
      int best = -1;
      double best_score = 0;
      for (int part = 0; part < parts; ++part) {
        double near = 0;
        for (const VertexId neighbour : graph.neighbours(static_cast<VertexId>(vertex))) {
          near += part_of[at(neighbour)] == part ? 1 : 0;
        }
        double held = 0;
        for (std::size_t other = 0; other < part_of.size(); ++other) {
          held += part_of[other] == part && labels[other] == labels[vertex] ? 1 : 0;
        }
        const double score = near - alpha * 1.5 * std::sqrt(held * (vertices / of_label));
        if (best < 0 || score > best_score) {
          best = part;
          best_score = score;
        }
      }
      part_of[vertex] = best;
    }
  }
  return part_of;
}

TEST(GnnAwarePartition, FollowsTheRule) {
  const test::RandomSeed seed;
  for (const int parts : {1, 3, 8, 13}) {
    for (const int passes : {1, 3}) {
      for (const auto& plain : {test::skewed_graph(150, seed), test::community_graph(150, 5, 6, seed)}) {
        const auto graph = test::with_labels(plain, 3, seed + 1);
        EXPECT_EQ(partition(graph, {PartitionMethod::gnn_aware, parts, 0, passes}),
                  by_the_rule(graph, parts, passes))
            << parts << " parts, " << passes << " passes";
      }
    }
  }
}

TEST(GnnAwarePartition, BalancesTheLabelsOfTrainingVertices) {
  const auto lonely = test::with_labels(test::graph_of(std::vector<std::vector<VertexId>>(500)), 4, 2);
  const auto parts = partition(lonely, {PartitionMethod::gnn_aware, 6});
  EXPECT_EQ(quality_of(lonely, parts, 6).label_imbalance, 1);
  // Classes are communities, which a partitioner for the cut alone keeps together.
  const auto graph = test::planted_graph(4000, 4);
  const auto imbalance = [&](PartitionMethod method) {
    return quality_of(graph, partition(graph, {method, 8}), 8).label_imbalance;
  };
  EXPECT_LT(imbalance(PartitionMethod::gnn_aware), 1.1);
  if (has_metis()) {
    EXPECT_GT(imbalance(PartitionMethod::metis), 1.2);
  }
}

TEST(GnnAwarePartition, KeepsToTheMaximumLoad) {
  const test::RandomSeed seed;
  for (const double max_load : {1.0, 1.1, 2.0}) {
    const auto graph = test::with_labels(test::skewed_graph(1000, seed), 3, seed);
    constexpr int parts = 6;
    const auto part_of = partition(graph, {PartitionMethod::gnn_aware, parts, 0, 3, max_load});
    for (std::int32_t label = 0; label < 3; ++label) {
      std::vector<std::int64_t> counts(parts, 0);
      std::int64_t all = 0;
      for (const VertexId vertex : graph.train) {
        if (graph.labels[at(vertex)] == label) {
          ++counts[at(part_of[at(vertex)])];
          ++all;
        }
      }
      EXPECT_LE(static_cast<double>(*std::max_element(counts.begin(), counts.end())),
                std::ceil(max_load * static_cast<double>(all) / parts));
    }
  }
}

TEST(GnnAwarePartition, TheMaximumLoadHoldsForBytesToo) {
  const auto graph = generate_in_memory(Rmat{.scale = 14, .seed = 1});
  constexpr int parts = 8;
  const auto most_over_mean = [&](std::optional<double> max_load) {
    const auto part_of = partition(graph, {PartitionMethod::gnn_aware, parts, 0, 2, max_load});
    std::vector<double> bytes(parts, 0);
    double all = 0;
    for (VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
      const auto own = static_cast<double>(sizeof(std::int64_t) + graph.features.row_bytes()) +
                       static_cast<double>(graph.neighbours(vertex).size()) * sizeof(std::uint32_t);
      bytes[at(part_of[at(vertex)])] += own;
      all += own;
    }
    return *std::max_element(bytes.begin(), bytes.end()) / (all / parts);
  };
  EXPECT_GT(most_over_mean({}), 1.5);
  EXPECT_LT(most_over_mean(1.1), 1.15);
}

TEST(GnnAwarePartition, EndsWhenProgressThrows) {
  const auto graph = test::community_graph(100, 4, 6, 1);
  const auto stop = [](std::string_view, std::int64_t, std::int64_t) { throw base::Interrupted(); };
  EXPECT_THROW(partition(graph, {PartitionMethod::gnn_aware, 4}, stop), base::Interrupted);
}

}  // namespace
}  // namespace gnomon::graph
