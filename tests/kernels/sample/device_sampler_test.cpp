#include <type_traits>

#include "kernels/device/sampler-inl.h"
#include "tests/kernels/host_executor.h"
#include "tests/kernels/sample/device_batches.h"
#include "tests/kernels/sample/sampler_contract.h"
#include "tests/kernels/sample/weighted_contract.h"

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
class OnHost {
 public:
  OnHost(const graph::Graph& graph, const std::vector<int>& fanouts, cpu::Draws draws = cpu::Draws::uniform)
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

using Wide = OnHost<std::int64_t, 1, false>;
using NarrowThreads = OnHost<std::uint32_t, 3, false>;
using CachedWide = OnHost<std::int64_t, 1, true>;
using CachedNarrow = OnHost<std::uint32_t, 1, true>;

INSTANTIATE_TYPED_TEST_SUITE_P(DeviceWide, SamplerContract, Wide);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceNarrowThreads, SamplerContract, NarrowThreads);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceCachedWide, SamplerContract, CachedWide);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceCachedNarrow, SamplerContract, CachedNarrow);

INSTANTIATE_TYPED_TEST_SUITE_P(DeviceWide, WeightedContract, Wide);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceNarrowThreads, WeightedContract, NarrowThreads);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceCachedWide, WeightedContract, CachedWide);
INSTANTIATE_TYPED_TEST_SUITE_P(DeviceCachedNarrow, WeightedContract, CachedNarrow);

}  // namespace
}  // namespace gnomon::kernels
