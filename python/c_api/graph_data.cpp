#include "python/c_api/graph_data.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/interleave.h"
#include "kernels/cpu/huge_array.h"
#include "kernels/cpu/prefetch.h"

namespace gnomon::c_api {
namespace {

constexpr std::int64_t max_narrow_edges = std::int64_t{1} << 32;

template <class Id>
void check_ids(std::span<const Id> ids, std::int64_t vertices, const char* where) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (static_cast<std::uint64_t>(ids[i]) >= static_cast<std::uint64_t>(vertices)) {
      throw base::InputError(
          std::string(where) + "[" + std::to_string(i) + "]",
          std::to_string(ids[i]) + " is not a vertex; the graph has " + std::to_string(vertices));
    }
  }
}

void check_indptr(std::span<const std::int64_t> indptr, std::int64_t edges) {
  if (indptr.empty() || indptr.front() != 0 || indptr.back() != edges ||
      !std::is_sorted(indptr.begin(), indptr.end())) {
    throw base::InputError("indptr", "must rise from 0 to the number of edges, " + std::to_string(edges));
  }
}

void check_columns(const graph::Features& features) {
  for (const std::int32_t column : features.entry_columns) {
    if (column < 0 || column >= features.columns) {
      throw base::InputError("features_columns.npy", std::to_string(column) + " is not a column; there are " +
                                                         std::to_string(features.columns));
    }
  }
}

/// Writes the ids of the edges, by position.
template <class Id>
std::span<const Id> order_into(kernels::cpu::HugeArray<Id>& ids, const EdgeArrays& edges,
                               std::vector<std::int64_t> next) {
  ids.reserve(edges.sources.size(), 0);
  for (std::size_t e = 0; e < edges.sources.size(); ++e) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(edges.destinations[e])]++);
    ids[at] = static_cast<Id>(e);
  }
  return {ids.data(), edges.sources.size()};
}

struct OrderStorage {
  kernels::cpu::HugeArray<std::uint32_t> narrow;
  kernels::cpu::HugeArray<std::int64_t> wide;
};

EdgeOrder order_of(const EdgeArrays& edges, const std::vector<std::int64_t>& indptr) {
  auto storage = std::make_shared<OrderStorage>();
  EdgeOrder order;
  if (std::ssize(edges.sources) <= max_narrow_edges) {
    order.narrow = order_into(storage->narrow, edges, indptr);
  } else {
    order.wide = order_into(storage->wide, edges, indptr);
  }
  order.storage = std::move(storage);
  return order;
}

EdgeOrder copied_order(std::span<const std::int64_t> edge_ids) {
  auto storage = std::make_shared<std::vector<std::int64_t>>(edge_ids.begin(), edge_ids.end());
  EdgeOrder order;
  order.wide = *storage;
  order.storage = std::move(storage);
  return order;
}

/// Returns the values of the edges, by position.
template <class T>
std::vector<T> reordered(std::span<const T> values, const EdgeOrder& order) {
  std::vector<T> result(values.size());
  for (std::size_t e = 0; e < values.size(); ++e) {
    const std::size_t id = order.narrow.empty() ? static_cast<std::size_t>(order.wide[e]) : order.narrow[e];
    result[e] = values[id];
  }
  return result;
}

kernels::cpu::Topology copied_topology(std::span<const std::int64_t> indptr,
                                       std::span<const std::int64_t> sources,
                                       std::span<const float> weights) {
  graph::Graph graph;
  graph.indptr = indptr;
  graph.indices = sources;
  graph.edge_weights = weights;
  return kernels::cpu::resident_copy(
      graph, weights.empty() ? kernels::cpu::Draws::uniform : kernels::cpu::Draws::by_weight);
}

std::vector<std::int64_t> count_destinations(const EdgeArrays& edges) {
  std::vector<std::int64_t> indptr(static_cast<std::size_t>(edges.num_vertices) + 1);
  for (const std::int64_t destination : edges.destinations) {
    ++indptr[static_cast<std::size_t>(destination) + 1];
  }
  for (std::size_t v = 1; v < indptr.size(); ++v) {
    indptr[v] += indptr[v - 1];
  }
  return indptr;
}

}  // namespace

GraphData graph_from_edges(const EdgeArrays& edges) {
  check_ids(edges.sources, edges.num_vertices, "edge_index[0]");
  check_ids(edges.destinations, edges.num_vertices, "edge_index[1]");
  const std::vector<std::int64_t> indptr = count_destinations(edges);
  GraphData data;
  if (std::is_sorted(edges.destinations.begin(), edges.destinations.end())) {
    data.topology = copied_topology(indptr, edges.sources, edges.weights);
    return data;
  }
  data.order = order_of(edges, indptr);
  data.topology =
      copied_topology(indptr, reordered(edges.sources, data.order), reordered(edges.weights, data.order));
  return data;
}

GraphData graph_from_csc(const CscArrays& arrays) {
  check_indptr(arrays.indptr, std::ssize(arrays.sources));
  check_ids(arrays.sources, std::ssize(arrays.indptr) - 1, "sources");
  GraphData data;
  data.topology = copied_topology(arrays.indptr, arrays.sources, arrays.weights);
  if (!arrays.edge_ids.empty()) {
    data.order = copied_order(arrays.edge_ids);
  }
  return data;
}

GraphData graph_from_store(const std::filesystem::path& directory, bool weighted) {
  GraphData data;
  data.store = graph::open_store(directory);
  check_indptr(data.store->indptr, data.store->num_edges());
  const std::string file = directory / "indices.npy";
  data.store->indices.visit([&](auto ids) { check_ids(ids, data.store->num_vertices(), file.c_str()); });
  if (const graph::Features& features = data.store->features; features.is_sparse()) {
    check_indptr(features.indptr, features.num_entries());
    check_columns(features);
  }
  data.topology = kernels::cpu::resident_copy_if_fits(
      *data.store, weighted ? kernels::cpu::Draws::by_weight : kernels::cpu::Draws::uniform);
  return data;
}

void spread(const GraphData& data, const std::vector<int>& nodes) {
  const auto spread_all = [&](const auto&... arrays) {
    (base::spread_pages(std::as_bytes(arrays), nodes), ...);
  };
  const kernels::cpu::Topology& topology = data.topology;
  spread_all(topology.indptr, topology.indices, topology.narrow_indices, topology.weights, topology.columns,
             topology.positives, data.order.narrow, data.order.wide);
}

void to_original_ids(const EdgeOrder& order, std::span<std::int64_t> edges) {
  if (order.is_identity()) {
    return;
  }
  constexpr std::size_t prefetch_distance = 32;
  const auto replace = [&](const auto* ids) {
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (e + prefetch_distance < edges.size()) {
        kernels::cpu::prefetch_far(ids + edges[e + prefetch_distance]);
      }
      edges[e] = static_cast<std::int64_t>(ids[edges[e]]);
    }
  };
  if (order.narrow.empty()) {
    replace(order.wide.data());
  } else {
    replace(order.narrow.data());
  }
}

}  // namespace gnomon::c_api
