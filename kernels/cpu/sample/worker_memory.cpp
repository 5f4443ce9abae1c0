#include "kernels/cpu/sample/worker_memory.h"

#include <algorithm>

#include "kernels/cpu/sample/hop.h"

namespace gnomon::kernels::cpu {
namespace {

/// Returns min(a * b, max) without overflow.
std::int64_t saturating_product(std::int64_t a, std::int64_t b, std::int64_t max) {
  return a > 0 && b > max / a ? max : std::min(a * b, max);
}

/// Calls visit(edges, vertices after the hop) for each hop of the largest batch. Returns the final number of
/// vertices.
template <class Visit>
std::int64_t for_each_hop(const GraphLimits& limits, std::int64_t batch_size, std::span<const int> fanouts,
                          Visit visit) {
  std::int64_t vertices = std::min(batch_size, limits.vertices);
  for (const int fanout : fanouts) {
    const std::int64_t each =
        fanout < 0 ? limits.max_degree : std::min<std::int64_t>(fanout, limits.max_degree);
    const std::int64_t edges = saturating_product(vertices, each, limits.edges);
    vertices = std::min(limits.vertices, vertices + edges);
    visit(edges, vertices);
  }
  return vertices;
}

}  // namespace

GraphLimits limits_of(const Topology& topology) {
  return {topology.num_vertices(), topology.num_edges(), topology.max_degree};
}

BatchSizes largest_batch(const GraphLimits& limits, std::int64_t batch_size, std::span<const int> fanouts) {
  BatchSizes sizes;
  sizes.seeds = std::min(batch_size, limits.vertices);
  for_each_hop(limits, batch_size, fanouts, [&](std::int64_t edges, std::int64_t vertices) {
    sizes.edges.push_back(edges);
    sizes.vertices.push_back(vertices);
  });
  return sizes;
}

std::int64_t max_vertices(const GraphLimits& limits, std::int64_t batch_size, std::span<const int> fanouts) {
  return for_each_hop(limits, batch_size, fanouts, [](std::int64_t, std::int64_t) {});
}

std::int64_t max_edges_in_flight(std::span<const int> fanouts) {
  std::int64_t max = chunk_edges;
  for (const int fanout : fanouts) {
    const std::int64_t each = std::max(fanout, 1);
    max = std::max(max, (vertices_per_chunk(each, 1) + 1) * each);
  }
  return max + static_cast<std::int64_t>(neighbour_prefetch_distance);
}

std::int64_t max_sampler_bytes(std::int64_t vertices, std::span<const int> fanouts) {
  std::int64_t fanout = 1;
  for (const int each : fanouts) {
    fanout = std::max<std::int64_t>(fanout, each);
  }
  // Capacity is reserved for the neighbours of all edges in flight, whether they are new or not.
  const std::int64_t under_way = max_edges_in_flight(fanouts);
  const std::int64_t members = vertices + under_way;
  // Slots of 8 bytes at a load factor of 5/8, and up to two more buckets of a cache line; the vertices' ids.
  const std::int64_t table = members * 8 / 5 * 8 + 3 * 64;
  const std::int64_t ids = (members + 1) * 4;
  // Positions, neighbours and home buckets of the edges in flight; draws of a group; rows of a chunk of
  // vertices.
  const std::int64_t pipeline =
      (under_way + 2 * static_cast<std::int64_t>(neighbour_prefetch_distance)) * (8 + 4 + 4);
  std::int64_t attempts = 0;  // of weighted draws
  for (const int each : fanouts) {
    attempts = std::max(attempts, initial_attempts(each) * vertices_per_chunk(each, 1));
  }
  return table + ids + pipeline + attempts * (4 + 4) + fanout * max_lanes * 4 +
         chunk_vertices * (8 + 8 + 4 + 4);
}

std::int64_t max_split_sampler_bytes(const BatchSizes& sizes, std::span<const int> fanouts, int threads) {
  const std::int64_t vertices = sizes.num_vertices();
  // Each thread has its own scratch memory and table. The tables together hold the batch's vertices, with
  // headroom.
  const std::int64_t scratch = threads * max_sampler_bytes(0, fanouts);
  const std::int64_t minimum = threads * static_cast<std::int64_t>(min_capacity);
  const std::int64_t tables =
      2 * (max_sampler_bytes(vertices + minimum, fanouts) - max_sampler_bytes(0, fanouts));
  const std::int64_t locals = 2 * (vertices + minimum + threads * (max_edges_in_flight(fanouts) + 1)) * 4;
  std::int64_t edges = sizes.seeds;
  for (const std::int64_t each : sizes.edges) {
    edges = std::max(edges, each);
  }
  // Messages and owners of a hop's edges; each pair of threads adds at most the edges in flight.
  const std::int64_t under_way =
      threads * threads *
      (max_edges_in_flight(fanouts) + 3 * static_cast<std::int64_t>(neighbour_prefetch_distance));
  const std::int64_t message =
      2 * ((edges + under_way) * 4 + (edges + threads * max_edges_in_flight(fanouts)));
  return scratch + tables + locals + message + 2 * (vertices + minimum) * 4;
}

std::int64_t max_batch_bytes(const BatchSizes& sizes, std::int64_t row_bytes) {
  std::int64_t bytes = sizes.seeds * 8;
  std::int64_t destinations = sizes.seeds;
  for (std::size_t hop = 0; hop < sizes.edges.size(); ++hop) {
    bytes += (destinations + 1) * 8 + sizes.edges[hop] * 4;
    destinations = sizes.vertices[hop];
  }
  return bytes + sizes.num_vertices() * (8 + 4 + row_bytes);
}

}  // namespace gnomon::kernels::cpu
