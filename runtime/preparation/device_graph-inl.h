#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "runtime/preparation/device_graph.h"

// Included where an executor's kernels are declared.

namespace gnomon::runtime {

inline std::int64_t max_degree(const kernels::cpu::Topology& topology) {
  std::int64_t degree = 0;
  for (std::int64_t vertex = 0; vertex < topology.num_vertices(); ++vertex) {
    degree = std::max(degree, topology.degree(vertex));
  }
  return degree;
}

/// The row pointers of lists of these lengths.
inline std::vector<std::int64_t> row_pointers(std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> indptr(lengths.size() + 1);
  std::partial_sum(lengths.begin(), lengths.end(), indptr.begin() + 1);
  return indptr;
}

template <class Executor, class Map>
DeviceGraph place_on_device(Executor& executor, const Map& map, const PlacedGraph& placed,
                            const plan::Plan& plan) {
  DeviceGraph device;
  const auto put = [&]<class T>(std::span<const T> values, plan::Home home) -> const T* {
    if (values.empty()) {
      return nullptr;
    }
    if (home == plan::Home::device) {
      const auto array = kernels::device::make_array<T>(executor, std::ssize(values));
      executor.upload(array.data, values.data(), values.size_bytes());
      device.owners.push_back(array.memory);
      return array.data;
    }
    const MappedBytes mapped = map(values.data(), values.size_bytes());
    device.owners.push_back(mapped.owner);
    device.copied_bytes += mapped.copied_bytes;
    return static_cast<const T*>(mapped.device_data);
  };
  const auto& topology = placed.topology;
  device.topology.lists = {put(topology.indptr, plan.topology), put(topology.indices, plan.topology),
                           put(topology.narrow_indices, plan.topology), put(topology.columns, plan.topology)};
  device.topology.num_vertices = topology.num_vertices();
  device.topology.weights = put(topology.weights, plan.topology);
  device.topology.positives = put(topology.positives, plan.topology);
  if (topology.draws_by_weight()) {
    device.topology.max_degree = max_degree(topology);
  }
  const auto& features = placed.graph.features;
  device.rows = {put(features.data_bytes(), plan.features), features.row_bytes(), nullptr, nullptr};
  device.has_far_rows =
      plan.features == plan::Home::host &&
      static_cast<std::int64_t>(features.data_bytes().size()) >= kernels::device::min_bytes_by_place;
  device.labels = put(placed.graph.labels, plan::Home::device);
  if (!placed.graph.whole_degrees.empty()) {
    const auto whole =
        std::make_shared<const std::vector<std::int64_t>>(row_pointers(placed.graph.whole_degrees));
    device.owners.push_back(whole);  // until the copy is done
    device.whole_indptr = put(std::span<const std::int64_t>(*whole), plan::Home::device);
  }
  device.feature_type = features.type;
  device.columns = features.columns;
  return device;
}

template <class Executor>
void gather_rows(Executor& executor, const DeviceGraph& graph, kernels::device::Reads reads,
                 const std::int64_t* vertices, std::int64_t count, std::byte* out,
                 const std::int64_t* known) {
  if (graph.has_far_rows) {
    kernels::device::gather_rows_by_place(executor, graph.rows, graph.topology.num_vertices, reads, vertices,
                                          count, out, known);
  } else {
    kernels::device::gather_rows(executor, graph.rows, reads, vertices, count, out, known);
  }
}

}  // namespace gnomon::runtime
