#include <type_traits>

#include "kernels/device/sampler-inl.h"
#include "tests/kernels/device_batches.h"
#include "tests/kernels/host_executor.h"
#include "tests/kernels/sampler_contract.h"

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
  CachedLists(const graph::Graph& graph, VertexId one_in)
      : slots(static_cast<std::size_t>(graph.num_vertices()), -1) {
    for (VertexId vertex = 0; vertex < graph.num_vertices(); vertex += one_in) {
      slots[static_cast<std::size_t>(vertex)] = static_cast<std::int32_t>(indptr.size()) - 1;
      const auto neighbours = graph.neighbours(vertex);
      indices.insert(indices.end(), neighbours.begin(), neighbours.end());
      indptr.push_back(std::ssize(indices));
    }
  }
  std::vector<std::int32_t> slots;
  std::vector<std::int64_t> indptr{0};
  std::vector<Id> indices;
};

template <class Id>
device::Lists lists_of(const std::int64_t* indptr, const Id* indices) {
  if constexpr (std::is_same_v<Id, std::uint32_t>) {
    return {indptr, nullptr, indices};
  } else {
    return {indptr, indices, nullptr};
  }
}

/// The device's sampler, run by the host. With a cache every third list is read from it, and the lists
/// themselves hold no neighbours of those vertices.
template <class Id, int Threads, bool Cached>
class OnHost {
 public:
  OnHost(const graph::Graph& graph, const std::vector<int>& fanouts)
      : indptr_(graph.indptr.begin(), graph.indptr.end()),
        indices_(graph.indices.begin(), graph.indices.end()),
        cached_(graph, 3),
        executor_(Threads),
        sampler_(executor_, topology_of(graph), fanouts) {}
  MiniBatch sample(const BatchKey& key, std::span<const VertexId> seeds) {
    return to_host(sampler_.sample(key, seeds.data(), std::ssize(seeds)), first_of);
  }

 private:
  device::Topology topology_of(const graph::Graph& graph) {
    device::Topology topology{lists_of(indptr_.data(), indices_.data()), graph.num_vertices(), nullptr, {}};
    if (Cached) {
      for (VertexId vertex = 0; vertex < graph.num_vertices(); vertex += 3) {
        std::fill(indices_.begin() + graph.indptr[static_cast<std::size_t>(vertex)],
                  indices_.begin() + graph.indptr[static_cast<std::size_t>(vertex) + 1], Id{0});
      }
      topology.slots = cached_.slots.data();
      topology.cached = lists_of(cached_.indptr.data(), cached_.indices.data());
    }
    return topology;
  }

  std::vector<std::int64_t> indptr_;
  std::vector<Id> indices_;
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

}  // namespace
}  // namespace gnomon::kernels
