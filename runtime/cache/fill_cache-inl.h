#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/cache/fill_cache.h"
#include "runtime/cache/preferred_rows.h"

// Included where an executor's kernels are declared.

namespace gnomon::runtime {

template <class T, class Executor>
kernels::device::Array<T> uploaded(Executor& executor, std::span<const T> values) {
  auto array = kernels::device::make_array<T>(executor, std::ssize(values));
  executor.upload(array.data, values.data(), values.size_bytes());
  return array;
}

/// For each of the graph's vertices its index in `vertices`, or -1.
template <class Executor>
kernels::device::Array<std::int32_t> cache_slots(Executor& executor, std::int64_t num_vertices,
                                                 const std::vector<graph::VertexId>& vertices) {
  return uploaded<std::int32_t>(executor, slots_of(num_vertices, vertices));
}

/// In chunks, for progress reports.
template <class Executor>
void cache_rows(Executor& executor, DeviceGraph& graph, const std::vector<graph::VertexId>& vertices,
                kernels::device::Reads reads, const base::Progress& progress) {
  constexpr std::int64_t chunk = std::int64_t{1} << 18;
  const auto wanted = uploaded<graph::VertexId>(executor, vertices);
  const std::int64_t bytes = graph.rows.row_bytes;
  const auto cached = kernels::device::make_array<std::byte>(executor, wanted.count * bytes);
  for (std::int64_t begin = 0; begin < wanted.count; begin += chunk) {
    base::report(progress, "filling the cache", begin, wanted.count);
    gather_rows(executor, graph, reads, wanted.data + begin, std::min(chunk, wanted.count - begin),
                cached.data + begin * bytes);
  }
  const auto slots = cache_slots(executor, graph.topology.num_vertices, vertices);
  graph.rows.cached = cached.data;
  graph.rows.slots = slots.data;
  graph.cache_owners.insert(graph.cache_owners.end(), {cached.memory, slots.memory});
}

template <class Executor>
void cache_lists(Executor& executor, DeviceGraph& graph, const graph::Graph& host,
                 const std::vector<graph::VertexId>& vertices) {
  namespace device = kernels::device;
  std::vector<std::int64_t> begins{0};
  for (const graph::VertexId vertex : vertices) {
    begins.push_back(begins.back() + host.degree(vertex));
  }
  const std::int64_t edges = begins.back();
  const auto wanted = uploaded<graph::VertexId>(executor, vertices);
  const auto indptr = uploaded<std::int64_t>(executor, begins);
  device::Lists lists;
  lists.indptr = indptr.data;
  device::ListCopies copies;
  const auto room_for = [&]<class T>(const T*& cached, T*& copied) {
    const auto array = device::make_array<T>(executor, edges);
    cached = copied = array.data;
    graph.cache_owners.push_back(array.memory);
  };
  if (graph.topology.lists.narrow_indices != nullptr) {
    room_for(lists.narrow_indices, copies.narrow);
  } else {
    room_for(lists.indices, copies.wide);
  }
  if (graph.topology.draws_by_weight()) {
    room_for(lists.columns, copies.columns);
  }
  device::copy_lists(executor, graph.topology, wanted.data, wanted.count, indptr.data, edges, copies);
  const auto slots = cache_slots(executor, graph.topology.num_vertices, vertices);
  graph.topology.cached = lists;
  graph.topology.slots = slots.data;
  graph.cache_owners.insert(graph.cache_owners.end(), {indptr.memory, slots.memory});
}

template <class Executor>
void fill_cache(Executor& executor, DeviceGraph& graph, const graph::Graph& host, const CacheContent& content,
                kernels::device::Reads reads, const base::Progress& progress) {
  drop_cache(graph);
  if (!content.rows.empty()) {
    cache_rows(executor, graph, content.rows, reads, progress);
  }
  if (!content.lists.empty()) {
    cache_lists(executor, graph, host, content.lists);
  }
}

}  // namespace gnomon::runtime
