#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "graph/graph.h"
#include "kernels/device/gather.h"
#include "kernels/device/topology.h"
#include "plan/plan.h"
#include "runtime/placement.h"

namespace gnomon::runtime {

/// Host memory mapped for a device.
struct MappedBytes {
  std::shared_ptr<const void> owner;  ///< keeps the mapping alive
  const void* device_data = nullptr;  ///< the address on the device
  std::int64_t copied_bytes = 0;      ///< of a pinned copy, because the memory itself could not be mapped
};

/// A graph in device memory or, read over the link, in host memory, with caches of rows and lists in device
/// memory (runtime/cache/fill_cache.h).
struct DeviceGraph {
  kernels::device::Topology topology;
  kernels::device::Rows rows;
  bool has_far_rows = false;  ///< whether rows.all is a large table (min_bytes_by_place) in host memory
  const std::int32_t* labels = nullptr;
  /// The graph is part of another one: row pointers whose differences are the vertices' degrees there. Null
  /// if they are those of `topology`.
  const std::int64_t* whole_indptr = nullptr;
  graph::FeatureType feature_type = graph::FeatureType::fp32;
  std::int64_t columns = 0;
  /// With a sharded cache: as rows.slots and topology.slots, but -1 for entries on other devices. Null
  /// otherwise.
  const std::int32_t* own_row_slots = nullptr;
  const std::int32_t* own_list_slots = nullptr;
  std::int64_t copied_bytes = 0;                          ///< of MappedBytes::copied_bytes
  std::vector<std::shared_ptr<const void>> owners;        ///< of the graph's arrays
  std::vector<std::shared_ptr<const void>> cache_owners;  ///< of the caches' arrays
};

/// Places the graph as the plan requires: structure (with weights and alias tables if neighbours are drawn by
/// weight) and features in the device's memory ("device") or mapped in the host's ("host"); labels in the
/// device's. `map(data, bytes)` returns MappedBytes. `placed` must outlive the result; its features are
/// dense. The executor may still be copying when the function returns.
template <class Executor, class Map>
DeviceGraph place_on_device(Executor& executor, const Map& map, const PlacedGraph& placed,
                            const plan::Plan& plan);

/// Copies the rows of `vertices` as gather_rows does, by their places if they are far.
template <class Executor>
void gather_rows(Executor& executor, const DeviceGraph& graph, kernels::device::Reads reads,
                 const std::int64_t* vertices, std::int64_t count, std::byte* out,
                 const std::int64_t* known = nullptr);

}  // namespace gnomon::runtime
