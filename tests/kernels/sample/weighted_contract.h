#pragma once

#include "kernels/cpu/sample/topology.h"
#include "tests/kernels/sample/sampler_contract.h"
#include "tests/kernels/sample/weighted_reference.h"

/// What every sampler of weighted draws promises. An implementation is one of sampler_contract.h that can
/// also be made with (graph, fanouts, cpu::Draws).
namespace gnomon::kernels {

/// The chances of all sequences of `left` further draws: each draw is proportional to the weights of what is
/// left. Calls put(sequence, chance).
template <class Put>
void enumerate_draws(const std::vector<float>& weights, std::size_t left, std::vector<VertexId> sequence,
                     double chance, const Put& put) {
  if (left == 0) {
    put(sequence, chance);
    return;
  }
  const auto is_drawn = [&](std::size_t i) {
    return std::count(sequence.begin(), sequence.end(), static_cast<VertexId>(i)) > 0;
  };
  double total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    total += is_drawn(i) ? 0 : static_cast<double>(weights[i]);
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!is_drawn(i) && weights[i] > 0) {
      auto longer = sequence;
      longer.push_back(static_cast<VertexId>(i));
      enumerate_draws(weights, left - 1, longer, chance * static_cast<double>(weights[i]) / total, put);
    }
  }
}

template <class Implementation>
class WeightedContract : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_skipped<Implementation>(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
  static Implementation weighted(const graph::Graph& graph, const std::vector<int>& fanouts) {
    return Implementation(graph, fanouts, cpu::Draws::by_weight);
  }
  /// Of a hub with these weights: the chance, by a chi-square test, of the sequences (or sets) drawn.
  static double draws_p(const std::vector<float>& weights, int fanout, bool in_order, std::uint64_t batches) {
    auto sampler = weighted(test::with_weights(test::hub_graph(std::ssize(weights)), weights), {fanout});
    std::map<std::vector<VertexId>, std::pair<std::int64_t, double>> cells;
    const auto cell = [&](std::vector<VertexId> sequence) -> auto& {
      if (!in_order) {
        std::sort(sequence.begin(), sequence.end());
      }
      return cells[sequence];
    };
    enumerate_draws(weights, static_cast<std::size_t>(fanout), {}, 1,
                    [&](const auto& sequence, double chance) { cell(sequence).second += chance; });
    const auto possible = cells.size();
    for (std::uint64_t i = 0; i < batches; ++i) {
      auto drawn = drawn_by(sampler.sample({31, 2, i}, std::vector<VertexId>{0}), 0, 0);
      for (auto& vertex : drawn) {
        --vertex;  // the hub's neighbours are numbered from 1
      }
      ++cell(drawn).first;
    }
    EXPECT_EQ(cells.size(), possible) << "something impossible was drawn";
    std::vector<std::pair<double, std::int64_t>> by_chance;
    for (const auto& [sequence, counted] : cells) {
      by_chance.emplace_back(counted.second, counted.first);
    }
    std::sort(by_chance.begin(), by_chance.end());
    // The rarest are counted together, so that each cell expects five.
    std::vector<std::int64_t> counts{0};
    std::vector<double> chances{0};
    for (const auto& [chance, count] : by_chance) {
      if (chances.back() * static_cast<double>(batches) >= 5) {
        counts.push_back(0);
        chances.push_back(0);
      }
      counts.back() += count;
      chances.back() += chance;
    }
    return fit_p(counts, chances);
  }
};

TYPED_TEST_SUITE_P(WeightedContract);

TYPED_TEST_P(WeightedContract, EqualsTheDefinition) {
  for (const double reach : {0.0, 3.0, 40.0}) {
    const auto graph = test::with_random_weights(test::skewed_graph(2000, 3), reach, 4);
    for (const std::vector<int>& fanouts :
         {std::vector<int>{15, 10, 5}, {3}, {-1, -1}, {2, -1, 300, 2, 1}, {512, 64}}) {
      auto sampler = this->weighted(graph, fanouts);
      for (const std::uint64_t i : {0, 1, 2, 4}) {
        const auto seeds = some_seeds(graph, i * i * 10, i);
        const BatchKey key{i << 33, i % 3, i};
        const auto found = sampler.sample(key, seeds);
        const auto expected = weighted_reference_batch(graph, fanouts, key, seeds);
        expect_well_formed(found);
        expect_same(found, expected);
      }
    }
  }
}

TYPED_TEST_P(WeightedContract, ListsOfEveryLengthAtEveryPlace) {
  // Lists begin at even and odd edges, which share random words.
  std::vector<std::vector<VertexId>> lists;
  for (std::size_t length = 0; length < 150; ++length) {
    lists.emplace_back(length, 0);
    std::iota(lists.back().begin(), lists.back().end(), VertexId{0});
  }
  const auto graph = test::with_random_weights(test::graph_of(lists), 2, 5);
  const auto seeds = some_seeds(graph, 150, 6);
  for (const int fanout : {1, 4, 33}) {
    expect_same(this->weighted(graph, {fanout}).sample({1, 2, 3}, seeds),
                weighted_reference_batch(graph, {fanout}, {1, 2, 3}, seeds));
  }
}

TYPED_TEST_P(WeightedContract, TheFirstDrawIsProportionalToTheWeights) {
  std::vector<float> weights;
  for (int i = 0; i < 60; ++i) {
    weights.push_back(static_cast<float>(1 + i % 12) * (i % 3 == 0 ? 0.25F : 2.0F));
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> chances;
  for (const float weight : weights) {
    chances.push_back(static_cast<double>(weight) / total);
  }
  for (const int fanout : {1, 7, 40}) {
    auto sampler = this->weighted(test::with_weights(test::hub_graph(60), weights), {fanout});
    std::vector<std::int64_t> counts(60);
    for (std::uint64_t i = 0; i < 20000; ++i) {
      ++counts.at(static_cast<std::size_t>(
          drawn_by(sampler.sample({30, 1, i}, std::vector<VertexId>{0}), 0, 0).front() - 1));
    }
    EXPECT_GT(fit_p(counts, chances), least_p) << "fanout " << fanout;
  }
}

TYPED_TEST_P(WeightedContract, SequencesAndSetsHaveTheirExactChances) {
  EXPECT_GT(this->draws_p({1, 2, 3, 4, 5}, 2, true, 20000), least_p);
  EXPECT_GT(this->draws_p({1, 0, 2, 3, 4, 10}, 3, false, 20000), least_p);
  EXPECT_GT(this->draws_p({1e-3F, 2e-3F, 2e-3F, 4e-3F}, 3, true, 20000), least_p);
  EXPECT_GT(this->draws_p({1, 1, 1, 1, 1, 1, 1}, 4, false, 20000), least_p);
}

TYPED_TEST_P(WeightedContract, ZeroWeightsAreNeverDrawn) {
  std::vector<float> weights(100, 0.0F);
  weights[17] = 1e-30F;
  weights[40] = 1;
  weights[99] = 1e30F;
  const auto graph = test::with_weights(test::hub_graph(100), weights);
  for (const int fanout : {3, 4, 50}) {
    EXPECT_EQ(drawn_by(this->weighted(graph, {fanout}).sample({1, 2, 3}, std::vector<VertexId>{0}), 0, 0),
              (std::vector<VertexId>{100, 41, 18}))
        << "these weights leave no doubt about the order";
  }
  EXPECT_EQ(drawn_by(this->weighted(graph, {2}).sample({1, 2, 3}, std::vector<VertexId>{0}), 0, 0),
            (std::vector<VertexId>{100, 41}));
  for (const int fanout : {-1, 100, 512}) {
    EXPECT_EQ(drawn_by(this->weighted(graph, {fanout}).sample({1, 2, 3}, std::vector<VertexId>{0}), 0, 0),
              (std::vector<VertexId>{18, 41, 100}));
  }
  const auto none = test::with_weights(test::hub_graph(100), std::vector<float>(100, 0.0F));
  for (const int fanout : {1, -1, 200}) {
    EXPECT_EQ(this->weighted(none, {fanout}).sample({}, std::vector<VertexId>{0}).num_edges(), 0);
  }
}

TYPED_TEST_P(WeightedContract, ExtremeWeights) {
  std::vector<float> weights;
  for (int i = 0; i < 300; ++i) {
    weights.push_back(i % 3 == 0   ? std::numeric_limits<float>::denorm_min()
                      : i % 3 == 1 ? std::numeric_limits<float>::max()
                                   : 1.0F);
  }
  const auto graph = test::with_weights(test::hub_graph(300), weights);
  for (const int fanout : {5, 150, 250, 299}) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      expect_same(this->weighted(graph, {fanout}).sample({3, 4, i}, std::vector<VertexId>{0}),
                  weighted_reference_batch(graph, {fanout}, {3, 4, i}, {0}));
    }
  }
}

TYPED_TEST_P(WeightedContract, LongListsAreDrawnByWeightToTheirEnds) {
  // Bins of 1,000 neighbours, of which every bin's weights are a multiple of the first one's.
  constexpr std::int64_t degree = 200000;
  std::vector<float> weights(degree);
  std::vector<double> chances(200);
  for (std::size_t i = 0; i < degree; ++i) {
    weights[i] = static_cast<float>(1 + i / 1000 % 4);
    chances[i / 1000] += static_cast<double>(weights[i]) / 2.5 / degree;
  }
  auto sampler = this->weighted(test::with_weights(test::hub_graph(degree), weights), {2});
  std::vector<std::int64_t> counts(200);
  for (std::uint64_t i = 0; i < 600; ++i) {
    for (const auto vertex : drawn_by(sampler.sample({13, i, 0}, std::vector<VertexId>{0}), 0, 0)) {
      ++counts.at(static_cast<std::size_t>((vertex - 1) / 1000));
    }
  }
  EXPECT_GT(fit_p(counts, chances), least_p);
}

TYPED_TEST_P(WeightedContract, FewEdgesThatHoldNearlyEverything) {
  // 44 attempts seldom find three edges here: the race draws the second and the third, or the third alone.
  EXPECT_GT(this->draws_p({3000, 1, 2, 3, 4}, 3, false, 20000), least_p);
  EXPECT_GT(this->draws_p({1, 2000, 2, 0, 2000, 4, 8}, 3, false, 20000), least_p);
  EXPECT_GT(this->draws_p({50, 1, 2, 1, 1}, 4, false, 20000), least_p);
  EXPECT_GT(this->draws_p({40, 1, 1, 2}, 3, true, 20000), least_p);
}

TYPED_TEST_P(WeightedContract, WhereAttemptsAreUsedUp) {
  for (const std::int64_t degree : {300, 70000}) {
    std::vector<float> weights(static_cast<std::size_t>(degree), 1e-3F);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = i % 7 == 0 ? 0 : i == 11 ? 3e7F : weights[i] * static_cast<float>(1 + i % 5);
    }
    const auto graph = test::with_weights(test::hub_graph(degree), weights);
    const auto topology = cpu::view_of(graph, cpu::Draws::by_weight);
    auto sampler = this->weighted(graph, {6});
    std::int64_t raced = 0;
    for (std::uint64_t i = 0; i < 20; ++i) {
      std::vector<VertexId> expected;
      for (const auto position : weighted_draws(topology, {8, 1, i}, 0, 0, 6, &raced)) {
        expected.push_back(position + 1);
      }
      EXPECT_EQ(drawn_by(sampler.sample({8, 1, i}, std::vector<VertexId>{0}), 0, 0), expected);
    }
    EXPECT_GT(raced, 60);
  }
}

TYPED_TEST_P(WeightedContract, SmallestLists) {
  const auto graph = test::with_weights(test::graph_of({{1}, {2}, {3, 0}, {0, 1}, {}}),
                                        {0.5F, 0.0F, 0.0F, 1e-40F, 0.0F, 0.0F});
  for (const std::vector<int>& fanouts : {std::vector<int>{1}, {2, 1}, {-1}}) {
    const std::vector<VertexId> seeds{4, 3, 2, 1, 0};
    const auto batch = this->weighted(graph, fanouts).sample({1, 1, 1}, seeds);
    expect_well_formed(batch);
    expect_same(batch, weighted_reference_batch(graph, fanouts, {1, 1, 1}, seeds));
    EXPECT_EQ(batch.blocks[0].indptr, (std::vector<std::int64_t>{0, 0, 0, 1, 1, 2}));
    EXPECT_EQ(drawn_by(batch, 0, 2), std::vector<VertexId>{0});
    EXPECT_EQ(drawn_by(batch, 0, 4), std::vector<VertexId>{1});
  }
}

TYPED_TEST_P(WeightedContract, VerticesHopsBatchesAndEpochsAreIndependent) {
  const std::vector<VertexId> list{2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::vector<std::vector<VertexId>> lists(12);
  lists[0] = lists[1] = list;
  auto sampler =
      this->weighted(test::with_weights(test::graph_of(lists), std::vector<float>(20, 0.5F)), {1, 1});
  std::map<std::string, std::vector<std::int64_t>> tables;
  const auto count = [&](const std::string& name, VertexId left, VertexId right) {
    ++tables.emplace(name, std::vector<std::int64_t>(100))
          .first->second.at(static_cast<std::size_t>((left - 2) * 10 + right - 2));
  };
  const std::vector<VertexId> seeds{0, 1};
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto batch = sampler.sample({14, i, 2 * i}, seeds);
    const auto first = drawn_by(batch, 0, 0)[0];
    count("vertices", first, drawn_by(batch, 0, 1)[0]);
    count("hops", first, drawn_by(batch, 1, 0)[0]);
    count("batches", first, drawn_by(sampler.sample({14, i, 2 * i + 1}, seeds), 0, 0)[0]);
    count("epochs", first, drawn_by(sampler.sample({14, i + 1, 2 * i}, seeds), 0, 0)[0]);
    count("seeds", first, drawn_by(sampler.sample({15, i, 2 * i}, seeds), 0, 0)[0]);
  }
  for (const auto& [name, counts] : tables) {
    EXPECT_GT(uniformity_p(counts), least_p) << name;
  }
}

TYPED_TEST_P(WeightedContract, SameBatchesFromAnyThreads) {
  const auto graph = test::with_random_weights(test::skewed_graph(1500, 4), 3, 7);
  const std::vector<int> fanouts{6, 4};
  constexpr std::size_t batches = 16;
  const auto order = some_seeds(graph, batches * 80, 5);
  std::vector<MiniBatch> expected;
  for (std::size_t i = 0; i < batches; ++i) {
    expected.push_back(
        this->weighted(graph, fanouts).sample({9, 1, i}, std::span(order).subspan(80 * i, 80)));
  }
  for (const std::size_t threads : {2U, 5U}) {
    std::vector<MiniBatch> found(batches);
    {
      std::vector<std::jthread> pool;
      for (std::size_t thread = 0; thread < threads; ++thread) {
        pool.emplace_back([&, thread] {
          auto sampler = this->weighted(graph, fanouts);
          for (std::size_t i = thread; i < batches; i += threads) {
            found[i] = sampler.sample({9, 1, i}, std::span(order).subspan(80 * i, 80));
          }
        });
      }
    }
    for (std::size_t i = 0; i < batches; ++i) {
      expect_same(found[i], expected[i]);
    }
  }
}

TYPED_TEST_P(WeightedContract, NeedsWeights) {
  EXPECT_THROW(this->weighted(test::skewed_graph(100, 1), {3}), base::InputError);
}

REGISTER_TYPED_TEST_SUITE_P(WeightedContract, EqualsTheDefinition, ListsOfEveryLengthAtEveryPlace,
                            TheFirstDrawIsProportionalToTheWeights, SequencesAndSetsHaveTheirExactChances,
                            ZeroWeightsAreNeverDrawn, ExtremeWeights, LongListsAreDrawnByWeightToTheirEnds,
                            FewEdgesThatHoldNearlyEverything, WhereAttemptsAreUsedUp, SmallestLists,
                            VerticesHopsBatchesAndEpochsAreIndependent, SameBatchesFromAnyThreads,
                            NeedsWeights);

}  // namespace gnomon::kernels
