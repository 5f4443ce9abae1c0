#include "runtime/training/biased_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/cpu/sample/sampler.h"
#include "tests/runtime/test_runs.h"

namespace gnomon::runtime {
namespace {

plan::Plan biased_plan(double bias, double budget, plan::Plan plan = sequential_plan()) {
  plan.bias = bias;
  plan.cache.policy = plan::CachePolicy::out_degree;
  plan.cache.budget = budget;
  plan.exact = false;
  return plan;
}

/// The vertices that biased_graph weighs, by counting.
std::set<graph::VertexId> most_held(const graph::Graph& graph, std::size_t count) {
  std::vector<std::pair<std::int64_t, graph::VertexId>> uses;
  for (graph::VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
    uses.emplace_back(-std::count(graph.indices.begin(), graph.indices.end(), vertex), vertex);
  }
  std::sort(uses.begin(), uses.end());
  std::set<graph::VertexId> held;
  for (std::size_t i = 0; i < count; ++i) {
    held.insert(uses[i].second);
  }
  return held;
}

TEST(BiasedGraph, WeighsEdgesToTheMostHeldVertices) {
  const auto graph = test::planted_graph(300, 8);
  const auto held = most_held(graph, 60);
  const auto biased = biased_graph(graph, biased_plan(5, 0.2), false);
  ASSERT_EQ(biased.edge_weights.size(), graph.indices.size());
  for (std::size_t edge = 0; edge < graph.indices.size(); ++edge) {
    EXPECT_EQ(biased.edge_weights[edge], held.contains(graph.indices[edge]) ? 5 : 1);
  }
  const auto twice = biased_graph(biased, biased_plan(3, 0.2), true);
  EXPECT_EQ(*std::max_element(twice.edge_weights.begin(), twice.edge_weights.end()), 15);
  EXPECT_TRUE(graph.edge_weights.empty());
}

TEST(BiasedGraph, DrawsHeldNeighboursAsOftenAsTheBiasSays) {
  const auto graph = test::planted_graph(300, 8);
  const auto held = most_held(graph, 60);
  const double bias = 4;
  const auto biased = biased_graph(graph, biased_plan(bias, 0.2), false);
  kernels::cpu::Sampler sampler(kernels::cpu::view_of(biased, kernels::cpu::Draws::by_weight), {1});
  double expected = 0;
  double variance = 0;
  double found = 0;
  kernels::MiniBatch batch;
  for (graph::VertexId seed = 0; seed < graph.num_vertices(); ++seed) {
    const auto begin = graph.indptr[static_cast<std::size_t>(seed)];
    const auto end = graph.indptr[static_cast<std::size_t>(seed) + 1];
    const auto hot =
        static_cast<double>(std::count_if(graph.indices.begin() + begin, graph.indices.begin() + end,
                                          [&](auto v) { return held.contains(v); }));
    if (end - begin < 2) {
      continue;  // drawn whatever the bias
    }
    const double chance = bias * hot / (bias * hot + static_cast<double>(end - begin) - hot);
    for (std::uint64_t number = 0; number < 40; ++number) {
      sampler.sample({7, 0, number}, std::array{seed}, batch);
      expected += chance;
      variance += chance * (1 - chance);
      const auto drawn = batch.vertices[static_cast<std::size_t>(batch.blocks[0].indices[0])];
      found += held.contains(drawn) ? 1 : 0;
    }
  }
  EXPECT_GT(variance, 100);
  EXPECT_NEAR(found, expected, 4 * std::sqrt(variance));
}

/// The probability of each neighbour to be among the `count` largest keys u^(1/w) (Efraimidis and Spirakis
/// 2006): that of being drawn by weight, one after the other without replacement, summed over all sequences.
void add_inclusions(const std::vector<double>& weights, int count, double chance, std::vector<bool>& is_drawn,
                    std::vector<double>& inclusions) {
  double left = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left += is_drawn[i] ? 0 : weights[i];
  }
  for (std::size_t i = 0; i < weights.size() && count > 0; ++i) {
    if (!is_drawn[i]) {
      const double next = chance * weights[i] / left;
      inclusions[i] += next;
      is_drawn[i] = true;
      add_inclusions(weights, count - 1, next, is_drawn, inclusions);
      is_drawn[i] = false;
    }
  }
}

class BiasedDraws : public testing::TestWithParam<double> {};

TEST_P(BiasedDraws, IncludeNeighboursAsTheLargestKeysWould) {
  constexpr int fanout = 3;
  constexpr int draws = 20000;
  // Vertex 0 gathers from 1 to 8, of which the others gather from 1, 2 and 3: those are preferred.
  std::vector<std::vector<graph::VertexId>> lists(20);
  lists[0] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (std::size_t vertex = 9; vertex < lists.size(); ++vertex) {
    lists[vertex] = {1, 2, 3};
  }
  const auto biased = biased_graph(test::graph_of(lists), biased_plan(GetParam(), 0.15), false);
  std::vector<double> weights(8, 1), inclusions(8);
  std::fill_n(weights.begin(), 3, GetParam());
  std::vector<bool> is_drawn(8);
  add_inclusions(weights, fanout, 1, is_drawn, inclusions);

  kernels::cpu::Sampler sampler(kernels::cpu::view_of(biased, kernels::cpu::Draws::by_weight), {fanout});
  kernels::MiniBatch batch;
  std::vector<int> found(9);
  for (std::uint64_t number = 0; number < draws; ++number) {
    sampler.sample({11, 0, number}, std::array<graph::VertexId, 1>{0}, batch);
    ASSERT_EQ(batch.blocks[0].indices.size(), std::size_t{fanout});
    for (const auto index : batch.blocks[0].indices) {
      ++found[static_cast<std::size_t>(batch.vertices[static_cast<std::size_t>(index)])];
    }
  }
  for (std::size_t i = 0; i < inclusions.size(); ++i) {
    const double expected = draws * inclusions[i];
    EXPECT_NEAR(found[i + 1], expected, 4 * std::sqrt(expected * (1 - inclusions[i]))) << "vertex " << i + 1;
  }
}

INSTANTIATE_TEST_SUITE_P(Bias, BiasedDraws, testing::Values(1.5, 2, 4, 16, 200),
                         [](const auto& bias) { return "Case" + std::to_string(bias.index); });

TEST(BiasedGraph, TrainingIsBiasedAndIsTheSameOnEveryRoute) {
  const auto graph = test::planted_graph(1500, 32);
  const auto job = small_job(plan::ModelKind::sage);
  const auto hash = [&](const plan::Plan& plan) {
    return train(graph, {.job = job, .plan = plan}).weights_hash;
  };
  const auto biased = hash(biased_plan(8, 0.1));
  EXPECT_EQ(biased, hash(biased_plan(8, 0.1, claim_ahead_plan(3, 2))));
  EXPECT_EQ(biased, hash(biased_plan(8, 0.1, plan_of(plan::Schedule::pipelined, plan::Route::cpu, 2))));
  EXPECT_NE(biased, hash(biased_plan(8, 0.3)));
  EXPECT_NE(biased, hash(sequential_plan()));
}

TEST(BiasedGraph, ResumesOnlyAsItBegan) {
  const auto graph = test::planted_graph(1500, 32);
  const test::TemporaryDirectory directory;
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = biased_plan(8, 0.1)};
  const auto expected = train(graph, options).weights_hash;
  options.run_directory = directory.path();
  options.resume = true;
  std::atomic<bool> stop = false;
  options.stop = &stop;
  options.progress = [&](std::string_view, std::int64_t done, std::int64_t) { stop = done == 9; };
  EXPECT_THROW(train(graph, options), base::Interrupted);
  stop = false;
  options.progress = {};
  auto others = options;
  for (const auto& plan : {sequential_plan(), biased_plan(4, 0.1)}) {
    others.plan = plan;
    EXPECT_THROW(train(graph, others), base::InputError);
  }
  EXPECT_EQ(train(graph, options).weights_hash, expected);
}

TEST(BiasedGraph, SeveralPlansDoNotShareABiasedTraining) {
  const auto graph = test::planted_graph(1500, 32);
  TrainOptions options{.job = small_job(plan::ModelKind::sage), .plan = sequential_plan()};
  options.next_stretch = [](std::int64_t left) { return Stretch{biased_plan(8, 0.1), left}; };
  EXPECT_THROW(train(graph, options), base::InputError);
}

}  // namespace
}  // namespace gnomon::runtime
