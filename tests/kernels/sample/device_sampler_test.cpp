#include <algorithm>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "kernels/cpu/sample/sampler.h"
#include "kernels/device/sampler-inl.h"
#include "tests/kernels/host_executor.h"
#include "tests/kernels/sample/device_batches.h"
#include "tests/kernels/sample/sampler_contract.h"
#include "tests/kernels/sample/weighted_contract.h"
#include "tests/random_seed.h"

namespace gnomon::kernels {
namespace {

using graph::VertexId;

/// The "device" is the host.
constexpr auto first_of = []<class T>(const device::Array<T>& array, std::int64_t count) {
  return std::vector<T>(array.data, array.data + count);
};

/// Copies of the lists of some vertices, as a device would keep them.
template <class Id>
struct CachedLists {
  CachedLists(const cpu::Topology& topology, VertexId one_in)
      : slots(static_cast<std::size_t>(topology.num_vertices()), -1) {
    for (VertexId vertex = 0; vertex < topology.num_vertices(); vertex += one_in) {
      slots[static_cast<std::size_t>(vertex)] = static_cast<std::int32_t>(indptr.size()) - 1;
      const auto begin = topology.indptr[static_cast<std::size_t>(vertex)];
      for (auto edge = begin; edge < begin + topology.degree(vertex); ++edge) {
        indices.push_back(static_cast<Id>(topology.indices[static_cast<std::size_t>(edge)]));
        if (topology.draws_by_weight()) {
          columns.push_back(topology.columns[static_cast<std::size_t>(edge)]);
        }
      }
      indptr.push_back(std::ssize(indices));
    }
  }
  std::vector<std::int32_t> slots;
  std::vector<std::int64_t> indptr{0};
  std::vector<Id> indices;
  std::vector<AliasColumn> columns;
};

template <class Id>
device::Lists lists_of(const std::int64_t* indptr, const Id* indices, const AliasColumn* columns) {
  if constexpr (std::is_same_v<Id, std::uint32_t>) {
    return {indptr, nullptr, indices, columns};
  } else {
    return {indptr, indices, nullptr, columns};
  }
}

/// The device's sampler, run by the host. With a cache every third list is read from it, and the lists
/// themselves hold no neighbours and no alias tables of those vertices.
template <class Id, int Threads, bool Cached>
class SamplerOnHost {
 public:
  SamplerOnHost(const graph::Graph& graph, const std::vector<int>& fanouts,
                cpu::Draws draws = cpu::Draws::uniform)
      : host_(cpu::view_of(graph, draws)),
        indptr_(host_.indptr.begin(), host_.indptr.end()),
        indices_(host_.indices.begin(), host_.indices.end()),
        columns_(host_.columns.begin(), host_.columns.end()),
        cached_(host_, 3),
        executor_(Threads),
        sampler_(executor_, topology(), fanouts) {}
  MiniBatch sample(const BatchKey& key, std::span<const VertexId> seeds) {
    return to_host(sampler_.sample(key, seeds.data(), std::ssize(seeds)), first_of);
  }

 private:
  device::Topology topology() {
    const bool weighted = host_.draws_by_weight();
    device::Topology topology{lists_of(indptr_.data(), indices_.data(), weighted ? columns_.data() : nullptr),
                              host_.num_vertices(),
                              nullptr,
                              {},
                              host_.weights.data(),
                              host_.positives.data()};
    topology.max_degree = 0;
    for (VertexId vertex = 0; vertex < host_.num_vertices(); ++vertex) {
      topology.max_degree = std::max(topology.max_degree, host_.degree(vertex));
    }
    if (Cached) {
      forget_cached();
      topology.slots = cached_.slots.data();
      topology.cached = lists_of(cached_.indptr.data(), cached_.indices.data(),
                                 weighted ? cached_.columns.data() : nullptr);
    }
    return topology;
  }
  void forget_cached() {
    for (VertexId vertex = 0; vertex < host_.num_vertices(); vertex += 3) {
      const auto begin = host_.indptr[static_cast<std::size_t>(vertex)];
      std::fill_n(indices_.begin() + begin, host_.degree(vertex), Id{0});
      if (host_.draws_by_weight()) {
        std::fill_n(columns_.begin() + begin, host_.degree(vertex), AliasColumn());
      }
    }
  }

  cpu::Topology host_;
  std::vector<std::int64_t> indptr_;
  std::vector<Id> indices_;
  std::vector<AliasColumn> columns_;
  CachedLists<Id> cached_;
  HostExecutor executor_;
  device::Sampler<HostExecutor> sampler_;
};

using Wide = SamplerOnHost<std::int64_t, 1, false>;
using NarrowThreads = SamplerOnHost<std::uint32_t, 3, false>;
using CachedWide = SamplerOnHost<std::int64_t, 1, true>;
using CachedNarrow = SamplerOnHost<std::uint32_t, 1, true>;

INSTANTIATE_TYPED_TEST_SUITE_P(DeviceWide, SamplerContract, Wide);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceNarrowThreads, SamplerContract, NarrowThreads);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceCachedWide, SamplerContract, CachedWide);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceCachedNarrow, SamplerContract, CachedNarrow);

INSTANTIATE_TYPED_TEST_SUITE_P(DeviceWide, WeightedContract, Wide);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceNarrowThreads, WeightedContract, NarrowThreads);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceCachedWide, WeightedContract, CachedWide);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceCachedNarrow, WeightedContract, CachedNarrow);

/// More hubs than places for long draws, each with three edges that have nearly all of its weight, and
/// vertices whose lists are short.
struct LongHubs {
  static constexpr VertexId count = 20;

  static graph::Graph graph(std::uint64_t seed) {
    constexpr VertexId vertices = 6000;
    std::mt19937_64 random(seed);
    std::vector<std::vector<VertexId>> neighbours(static_cast<std::size_t>(vertices));
    std::vector<float> weights;
    for (VertexId vertex = 0; vertex < vertices; ++vertex) {
      const std::int64_t degree = vertex < count ? 4500 + 10 * vertex : 4;
      for (std::int64_t i = 0; i < degree; ++i) {
        neighbours[static_cast<std::size_t>(vertex)].push_back(static_cast<VertexId>(random() % vertices));
        weights.push_back(vertex < count && i % 1500 == 7 ? 1e9F
                                                          : 1e-3F * static_cast<float>(1 + random() % 3));
      }
    }
    return test::with_weights(test::graph_of(neighbours), std::move(weights));
  }
};

/// Hubs whose weight nearly all lies on a few edges: attempts find no more, and the rest of their lists is
/// shared.
TEST(DeviceSampler, SharesLongListsThatAttemptsDoNotComplete) {
  const test::RandomSeed seed(20261123);
  std::mt19937_64 random(seed);
  constexpr VertexId hubs = LongHubs::count;
  const auto graph = LongHubs::graph(random());
  std::vector<VertexId> seeds(static_cast<std::size_t>(hubs));
  std::iota(seeds.begin(), seeds.end(), VertexId{0});
  for (const std::vector<int>& fanouts : {std::vector<int>{10, 3}, {1}, {40}}) {
    for (std::uint64_t batch = 0; batch < 3; ++batch) {
      const BatchKey key{random(), 0, batch};
      MiniBatch expected;
      cpu::Sampler(cpu::view_of(graph, cpu::Draws::by_weight), fanouts).sample(key, seeds, expected);
      expect_same(NarrowThreads(graph, fanouts, cpu::Draws::by_weight).sample(key, seeds), expected);
    }
  }
}

/// The pass that draws leaves a long list after its attempts; each lane then reads its share of it.
TEST(DeviceSampler, NoThreadReadsALongListAlone) {
  const auto graph = LongHubs::graph(1);
  const auto host = cpu::view_of(graph, cpu::Draws::by_weight);
  device::Topology topology{lists_of(host.indptr.data(), host.indices.data(), host.columns.data()),
                            host.num_vertices(),
                            nullptr,
                            {},
                            host.weights.data(),
                            host.positives.data()};
  constexpr int fanout = 10;
  const VertexId hub = 0;
  const auto list = topology.neighbours(hub);
  ASSERT_GE(list.degree, device::LongDraws::min_degree);
  std::vector<std::int64_t> all(device::LongDraws::max_lists, -1), drawn(all), positions(fanout, -1);
  std::vector<double> keys(fanout);
  std::vector<std::int32_t> owners(fanout);
  const std::int64_t known = 1;
  const std::vector<std::int64_t> indptr{0, fanout};
  device::LongDraws draws;
  draws.destinations = all.data();
  draws.drawn = drawn.data();
  draws.lanes = 1;
  const device::passes::DrawPositions<device::HostAtomics> body{
      {1, 0, 0},        0,           topology,      &hub, &list, &known, fanout, indptr.data(),
      positions.data(), keys.data(), owners.data(), draws};
  body(0);
  EXPECT_EQ(all.front(), 0);
  EXPECT_LT(drawn.front(), fanout);
  EXPECT_GT(drawn.front(), 0);
  EXPECT_EQ(positions.back(), -1);  // the draw is not complete
}

}  // namespace
}  // namespace gnomon::kernels
