#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "base/error.h"
#include "kernels/block.h"
#include "kernels/sampling_rule.h"
#include "tests/fixtures/graphs.h"
#include "tests/kernels/chi_square.h"
#include "tests/kernels/contract_skip.h"

/// The contract of every neighbour sampler. An implementation is a type with
///     Implementation(const graph::Graph&, std::vector<int> fanouts)   // base::InputError
///     MiniBatch sample(const BatchKey&, std::span<const graph::VertexId> seeds)   // base::InputError
/// Each chi-square check is one test of its hypothesis at 1e-3; the seeds are fixed, so it passes always or
/// never.
namespace gnomon::kernels {

using graph::VertexId;

inline constexpr double least_p = 1e-3;

inline void expect_same(const MiniBatch& left, const MiniBatch& right) {
  EXPECT_EQ(left.num_seeds, right.num_seeds);
  EXPECT_EQ(left.vertices, right.vertices);
  ASSERT_EQ(left.blocks.size(), right.blocks.size());
  for (std::size_t hop = 0; hop < left.blocks.size(); ++hop) {
    EXPECT_EQ(left.blocks[hop].num_destinations, right.blocks[hop].num_destinations) << "hop " << hop;
    EXPECT_EQ(left.blocks[hop].num_sources, right.blocks[hop].num_sources) << "hop " << hop;
    EXPECT_EQ(left.blocks[hop].indptr, right.blocks[hop].indptr) << "hop " << hop;
    EXPECT_EQ(left.blocks[hop].indices, right.blocks[hop].indices) << "hop " << hop;
  }
}

/// What block.h promises of every mini-batch, whatever was drawn.
inline void expect_well_formed(const MiniBatch& batch) {
  EXPECT_EQ(std::set<VertexId>(batch.vertices.begin(), batch.vertices.end()).size(), batch.vertices.size());
  std::int64_t seen = batch.num_seeds;
  for (const Block& block : batch.blocks) {
    ASSERT_EQ(block.num_destinations, seen);
    ASSERT_GE(block.num_sources, block.num_destinations);
    ASSERT_EQ(block.indptr.size(), static_cast<std::size_t>(block.num_destinations) + 1);
    EXPECT_EQ(block.indptr.front(), 0);
    EXPECT_EQ(block.indptr.back(), block.num_edges());
    EXPECT_TRUE(std::is_sorted(block.indptr.begin(), block.indptr.end()));
    for (const auto source : block.indices) {
      ASSERT_GE(source, 0);
      ASSERT_LT(source, block.num_sources);
    }
    seen = block.num_sources;
  }
  EXPECT_EQ(static_cast<std::int64_t>(batch.vertices.size()), seen);
}

/// The global ids that local destination v of a hop drew.
inline std::vector<VertexId> drawn_by(const MiniBatch& batch, std::size_t hop, std::size_t v) {
  std::vector<VertexId> drawn;
  const Block& block = batch.blocks[hop];
  for (auto e = block.indptr[v]; e < block.indptr[v + 1]; ++e) {
    drawn.push_back(batch.vertices[static_cast<std::size_t>(block.indices[static_cast<std::size_t>(e)])]);
  }
  return drawn;
}

/// The mini-batch by the words of the contract: edges first, as pairs of global ids, then numbers by a map.
/// `draw(hop, vertex)` gives the positions in the vertex's list; `once`: a hop expands only what the last
/// added.
template <class Draw>
MiniBatch reference_batch_of(const graph::Graph& graph, std::size_t hops, const std::vector<VertexId>& seeds,
                             Draw draw, bool once = false) {
  MiniBatch batch;
  batch.num_seeds = static_cast<std::int64_t>(seeds.size());
  std::map<VertexId, std::int32_t> local_of;
  const auto number = [&](VertexId vertex) {
    const auto [found, is_new] = local_of.emplace(vertex, static_cast<std::int32_t>(local_of.size()));
    if (is_new) {
      batch.vertices.push_back(vertex);
    }
    return found->second;
  };
  std::for_each(seeds.begin(), seeds.end(), number);
  std::ptrdiff_t first = 0;
  for (std::uint32_t hop = 0; hop < hops; ++hop) {
    const std::vector<VertexId> destinations(batch.vertices.begin() + first, batch.vertices.end());
    first = once ? std::ssize(batch.vertices) : 0;
    Block block;
    block.indptr.push_back(0);
    for (const VertexId vertex : destinations) {
      const auto neighbours = graph.neighbours(vertex);
      for (const std::int64_t position : draw(hop, vertex)) {
        block.indices.push_back(number(neighbours[static_cast<std::size_t>(position)]));
        block.edge_ids.push_back(graph.indptr[static_cast<std::size_t>(vertex)] + position);
      }
      block.indptr.push_back(block.num_edges());
    }
    block.num_destinations = static_cast<std::int64_t>(destinations.size());
    block.num_sources = static_cast<std::int64_t>(batch.vertices.size());
    batch.blocks.push_back(block);
  }
  return batch;
}

/// The same of uniform draws.
inline MiniBatch reference_batch(const graph::Graph& graph, const std::vector<int>& fanouts,
                                 const BatchKey& key, const std::vector<VertexId>& seeds, bool once = false) {
  const auto draw = [&](std::uint32_t hop, VertexId vertex) {
    const std::int64_t degree = graph.degree(vertex);
    std::vector<std::int64_t> positions(static_cast<std::size_t>(degree));
    std::iota(positions.begin(), positions.end(), 0);
    if (fanouts[hop] >= 0 && degree > fanouts[hop]) {
      positions.resize(static_cast<std::size_t>(fanouts[hop]));
      draw_positions(key, hop, vertex, degree, fanouts[hop], positions.data());
    }
    return positions;
  };
  return reference_batch_of(graph, fanouts.size(), seeds, draw, once);
}

/// `count` distinct vertices of the graph.
inline std::vector<VertexId> some_seeds(const graph::Graph& graph, std::size_t count, std::uint64_t seed) {
  std::vector<VertexId> vertices(static_cast<std::size_t>(graph.num_vertices()));
  std::iota(vertices.begin(), vertices.end(), VertexId{0});
  std::shuffle(vertices.begin(), vertices.end(), std::mt19937_64(seed));
  vertices.resize(std::min(count, vertices.size()));
  return vertices;
}

/// Numbers the fanout-subsets of [0, degree) as they come; for tests that count them.
class SubsetCounter {
 public:
  explicit SubsetCounter(std::size_t subsets) : counts_(subsets) {}
  std::size_t index(std::vector<VertexId> drawn) {
    std::sort(drawn.begin(), drawn.end());
    return index_of_.emplace(drawn, index_of_.size()).first->second;
  }
  void count(const std::vector<VertexId>& drawn) { ++counts_.at(index(drawn)); }
  const std::vector<std::int64_t>& counts() const { return counts_; }

 private:
  std::map<std::vector<VertexId>, std::size_t> index_of_;
  std::vector<std::int64_t> counts_;
};

template <class Implementation>
class SamplerContract : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = why_skipped<Implementation>(); !why.empty()) {
      GTEST_SKIP() << why;
    }
  }
  static MiniBatch sample(const graph::Graph& graph, const std::vector<int>& fanouts, const BatchKey& key,
                          const std::vector<VertexId>& seeds) {
    return Implementation(graph, fanouts).sample(key, seeds);
  }
};

TYPED_TEST_SUITE_P(SamplerContract);

TYPED_TEST_P(SamplerContract, DrawsDistinctTrueNeighbours) {
  const auto graph = test::skewed_graph(600, 1);
  for (const std::vector<int>& fanouts : {std::vector<int>{5, 3, 2}, {1, 64}, {-1, 4}, {512}}) {
    const auto batch = this->sample(graph, fanouts, {7, 1, 2}, some_seeds(graph, 60, 2));
    expect_well_formed(batch);
    for (std::size_t hop = 0; hop < fanouts.size(); ++hop) {
      for (std::size_t v = 0; v < static_cast<std::size_t>(batch.blocks[hop].num_destinations); ++v) {
        const auto neighbours = graph.neighbours(batch.vertices[v]);
        const auto drawn = drawn_by(batch, hop, v);
        const std::set<VertexId> distinct(drawn.begin(), drawn.end());
        const auto most = fanouts[hop] < 0 ? neighbours.size() : static_cast<std::size_t>(fanouts[hop]);
        EXPECT_EQ(drawn.size(), std::min(neighbours.size(), most));
        EXPECT_EQ(distinct.size(), drawn.size());
        EXPECT_TRUE(std::all_of(drawn.begin(), drawn.end(), [&](VertexId vertex) {
          return std::count(neighbours.begin(), neighbours.end(), vertex) == 1;
        }));
      }
    }
  }
}

TYPED_TEST_P(SamplerContract, EqualsTheReference) {
  const auto graph = test::skewed_graph(3000, 3);
  for (const std::vector<int>& fanouts : {std::vector<int>{15, 10, 5}, {3}, {-1, -1}, {2, -1, 300, 2, 1}}) {
    TypeParam sampler(graph, fanouts);
    for (const std::uint64_t i : {0, 1, 2, 3, 5, 8, 11}) {
      const auto seeds = some_seeds(graph, i * i * 20, i);
      const BatchKey key{i << 33, i % 3, i};
      expect_same(sampler.sample(key, seeds), reference_batch(graph, fanouts, key, seeds));
    }
  }
}

/// The last hop has more destinations than devices find lists of in a prefix sum.
TYPED_TEST_P(SamplerContract, EqualsTheReferenceWithManyDestinations) {
  constexpr VertexId vertices = 40000;
  std::vector<std::vector<VertexId>> lists(vertices);
  for (VertexId v = 0; v < vertices; ++v) {
    for (VertexId j = 0; j < v % 12; ++j) {
      lists[static_cast<std::size_t>(v)].push_back((v + 1 + 97 * j * j) % vertices);
    }
  }
  const auto graph = test::graph_of(lists);
  const std::vector<int> fanouts{8, 6, 2};
  const auto seeds = some_seeds(graph, 700, 1);
  const BatchKey key{1, 2, 3};
  expect_same(this->sample(graph, fanouts, key, seeds), reference_batch(graph, fanouts, key, seeds));
}

TYPED_TEST_P(SamplerContract, SameBatchesFromAnyThreadsInAnyOrder) {
  const auto graph = test::skewed_graph(2000, 4);
  const std::vector<int> fanouts{4, 3, 5};
  constexpr std::size_t batches = 24;
  const auto order = some_seeds(graph, 2000, 5);
  std::vector<MiniBatch> expected;
  for (std::size_t i = 0; i < batches; ++i) {
    expected.push_back(this->sample(
        graph, fanouts, {9, 1, i},
        {order.begin() + 80 * static_cast<long>(i), order.begin() + 80 * static_cast<long>(i + 1)}));
  }
  for (const std::size_t threads : {1U, 2U, 8U}) {
    std::vector<std::size_t> sequence(batches);
    std::iota(sequence.begin(), sequence.end(), 0U);
    std::shuffle(sequence.begin(), sequence.end(), std::mt19937_64(threads));
    std::vector<MiniBatch> found(batches);
    const auto work = [&](std::size_t thread) {
      TypeParam sampler(graph, fanouts);
      for (std::size_t turn = thread; turn < batches; turn += threads) {
        const std::size_t i = sequence[turn];
        found[i] = sampler.sample({9, 1, i}, std::span(order).subspan(80 * i, 80));
      }
    };
    {
      std::vector<std::jthread> pool;
      for (std::size_t thread = 0; thread < threads; ++thread) {
        pool.emplace_back(work, thread);
      }
    }
    for (std::size_t i = 0; i < batches; ++i) {
      expect_same(found[i], expected[i]);
    }
  }
}

TYPED_TEST_P(SamplerContract, OtherKeysAndHopsDrawOthers) {
  // The chance that two independent draws agree is below 10^-11.
  auto lists = std::vector<std::vector<VertexId>>(101);
  lists[0].resize(100);
  std::iota(lists[0].begin(), lists[0].end(), VertexId{1});
  const auto graph = test::graph_of(lists);
  const BatchKey key{1, 2, 3};
  const auto batch = this->sample(graph, {10, 10}, key, {0});
  const auto drawn = drawn_by(batch, 0, 0);
  EXPECT_NE(drawn_by(batch, 1, 0), drawn);
  for (const BatchKey& other :
       {BatchKey{2, 2, 3}, {1, 3, 3}, {1, 2, 4}, {1 + (std::uint64_t{1} << 32), 2, 3}}) {
    EXPECT_NE(drawn_by(this->sample(graph, {10, 10}, other, {0}), 0, 0), drawn);
  }
  EXPECT_EQ(drawn_by(this->sample(graph, {10, 10}, key, {0}), 0, 0), drawn);
}

TYPED_TEST_P(SamplerContract, EveryNeighbourIsEquallyLikely) {
  // One batch draws multivariate-hypergeometrically: the variances are those of independent draws times
  // (degree - fanout) / (degree - 1), which the statistic takes out.
  constexpr std::int64_t degree = 50;
  constexpr int fanout = 15;
  constexpr std::int64_t batches = 20000;
  TypeParam sampler(test::hub_graph(degree), {fanout});
  std::vector<std::int64_t> counts(degree);
  for (std::uint64_t i = 0; i < batches; ++i) {
    const auto batch = sampler.sample({11, 0, i}, std::vector<VertexId>{0});
    for (const auto vertex : drawn_by(batch, 0, 0)) {
      ++counts.at(static_cast<std::size_t>(vertex - 1));
    }
  }
  const double expected = static_cast<double>(batches) * fanout / degree;
  double statistic = 0;
  for (const auto count : counts) {
    statistic += std::pow(static_cast<double>(count) - expected, 2) / expected;
  }
  EXPECT_GT(chi_square_p(statistic * (degree - 1) / (degree - fanout), degree - 1), least_p);
}

TYPED_TEST_P(SamplerContract, EverySubsetIsEquallyLikely) {
  // Stronger than uniform pairs. 495 = 12 over 4, 20 = 6 over 3, 7 = 7 over 6.
  struct Case {
    std::int64_t degree;
    int fanout;
    std::size_t subsets;
  };
  for (const Case& c : {Case{12, 4, 495}, {6, 3, 20}, {7, 6, 7}, {30, 1, 30}}) {
    TypeParam sampler(test::hub_graph(c.degree), {c.fanout});
    SubsetCounter counter(c.subsets);
    for (std::uint64_t i = 0; i < 50 * c.subsets; ++i) {
      counter.count(drawn_by(sampler.sample({12, 3, i}, std::vector<VertexId>{0}), 0, 0));
    }
    EXPECT_GT(uniformity_p(counter.counts()), least_p) << c.fanout << " of " << c.degree;
  }
}

TYPED_TEST_P(SamplerContract, HubsBeyond65536AreDrawnUniformly) {
  // The path of 64-bit draws: bins of 1 000 neighbours, and pairs of bins of the first two draws.
  constexpr std::int64_t degree = 100000;
  constexpr int fanout = 20;
  TypeParam sampler(test::hub_graph(degree), {fanout});
  std::vector<std::int64_t> bins(100);
  std::vector<std::int64_t> pairs(100);
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto drawn = drawn_by(sampler.sample({13, i, 0}, std::vector<VertexId>{0}), 0, 0);
    ASSERT_EQ(std::set<VertexId>(drawn.begin(), drawn.end()).size(), static_cast<std::size_t>(fanout));
    for (const auto vertex : drawn) {
      ++bins.at(static_cast<std::size_t>((vertex - 1) / 1000));
    }
    ++pairs.at(static_cast<std::size_t>((drawn[0] - 1) / 10000 * 10 + (drawn[1] - 1) / 10000));
  }
  EXPECT_GT(uniformity_p(bins), least_p);
  EXPECT_GT(uniformity_p(pairs), least_p);
}

TYPED_TEST_P(SamplerContract, VerticesHopsBatchesAndEpochsAreIndependent) {
  // Vertices 0 and 1 gather from 2 … 6 each: 10 subsets of two, so 100 equally likely pairs of subsets.
  const std::vector<VertexId> list{2, 3, 4, 5, 6};
  TypeParam sampler(test::graph_of({list, list, {}, {}, {}, {}, {}}), {2, 2});
  const std::vector<VertexId> seeds{0, 1};
  SubsetCounter numbers(10);
  std::map<std::string, std::vector<std::int64_t>> tables;
  const auto count = [&](const std::string& name, std::size_t left, std::size_t right) {
    ++tables.emplace(name, std::vector<std::int64_t>(100)).first->second.at(left * 10 + right);
  };
  for (std::uint64_t i = 0; i < 10000; ++i) {
    const auto batch = sampler.sample({14, i, 2 * i}, seeds);
    const auto first = numbers.index(drawn_by(batch, 0, 0));
    const auto next_batch = sampler.sample({14, i, 2 * i + 1}, seeds);
    const auto next_epoch = sampler.sample({14, i + 1, 2 * i}, seeds);
    const auto next_seed = sampler.sample({15, i, 2 * i}, seeds);
    count("vertices", first, numbers.index(drawn_by(batch, 0, 1)));
    count("hops", first, numbers.index(drawn_by(batch, 1, 0)));
    count("batches", first, numbers.index(drawn_by(next_batch, 0, 0)));
    count("epochs", first, numbers.index(drawn_by(next_epoch, 0, 0)));
    count("seeds", first, numbers.index(drawn_by(next_seed, 0, 0)));
  }
  for (const auto& [name, counts] : tables) {
    EXPECT_GT(uniformity_p(counts), least_p) << name;
  }
}

TYPED_TEST_P(SamplerContract, SmallestGraphs) {
  const auto alone = this->sample(test::graph_of({{}}), {3, -1}, {}, {0});
  expect_well_formed(alone);
  EXPECT_EQ(alone.vertices, (std::vector<VertexId>{0}));
  EXPECT_EQ(alone.num_edges(), 0);

  const auto loop = this->sample(test::graph_of({{0}}), {3, 1}, {}, {0});
  expect_well_formed(loop);
  EXPECT_EQ(loop.vertices, (std::vector<VertexId>{0}));
  EXPECT_EQ(loop.blocks[1].indices, (std::vector<std::int32_t>{0}));

  const auto isolated = this->sample(test::graph_of({{}, {3}, {}, {1}}), {2}, {}, {2, 1, 0});
  expect_well_formed(isolated);
  EXPECT_EQ(isolated.vertices, (std::vector<VertexId>{2, 1, 0, 3}));
  EXPECT_EQ(isolated.blocks[0].indptr, (std::vector<std::int64_t>{0, 0, 1, 1}));

  const auto nothing = this->sample(test::graph_of({{0}}), {2, 2}, {}, {});
  expect_well_formed(nothing);
  EXPECT_TRUE(nothing.vertices.empty());
}

TYPED_TEST_P(SamplerContract, HubOfDegreeOneMillion) {
  constexpr std::int64_t degree = 1000000;
  const auto graph = test::hub_graph(degree);
  const auto all = this->sample(graph, {-1}, {1, 1, 1}, {0});
  expect_well_formed(all);
  EXPECT_EQ(all.num_edges(), degree);
  EXPECT_EQ(drawn_by(all, 0, 0), std::vector<VertexId>(graph.indices.begin(), graph.indices.end()));
  const BatchKey key{1, 1, 2};
  for (const std::vector<int>& fanouts : {std::vector<int>{512, 10}, {1}}) {
    expect_same(this->sample(graph, fanouts, key, {0}), reference_batch(graph, fanouts, key, {0}));
  }
}

TYPED_TEST_P(SamplerContract, RefusesBadInput) {
  const auto graph = test::graph_of({{1}, {2}, {0}});
  for (const std::vector<int>& fanouts : {std::vector<int>{}, {0}, {3, 0}, {-2}, {max_fanout + 1}}) {
    EXPECT_THROW(TypeParam(graph, fanouts), base::InputError);
  }
  TypeParam sampler(graph, {1});
  for (const std::vector<VertexId>& seeds : {std::vector<VertexId>{1, 2, 1}, {3}, {-1}}) {
    EXPECT_THROW(sampler.sample({}, seeds), base::InputError);
  }
  EXPECT_EQ(sampler.sample({}, std::vector<VertexId>{1, 2}).vertices, (std::vector<VertexId>{1, 2, 0}));
}

REGISTER_TYPED_TEST_SUITE_P(SamplerContract, DrawsDistinctTrueNeighbours, EqualsTheReference,
                            EqualsTheReferenceWithManyDestinations, SameBatchesFromAnyThreadsInAnyOrder,
                            OtherKeysAndHopsDrawOthers, EveryNeighbourIsEquallyLikely,
                            EverySubsetIsEquallyLikely, HubsBeyond65536AreDrawnUniformly,
                            VerticesHopsBatchesAndEpochsAreIndependent, SmallestGraphs, HubOfDegreeOneMillion,
                            RefusesBadInput);

}  // namespace gnomon::kernels
