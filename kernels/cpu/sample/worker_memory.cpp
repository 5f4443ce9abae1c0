#include "kernels/cpu/sample/worker_memory.h"

#include <algorithm>

#include "kernels/cpu/sample/hop.h"

namespace gnomon::kernels::cpu {
namespace {

/// a * b, or `most` when that is less.
std::int64_t product_below(std::int64_t a, std::int64_t b, std::int64_t most) {
  return a > 0 && b > most / a ? most : std::min(a * b, most);
}

/// Calls visit(edges, vertices after it) for each hop of the largest batch; returns the last number of
/// vertices.
template <class Visit>
std::int64_t for_each_hop(const GraphLimits& limits, std::int64_t batch_size, std::span<const int> fanouts,
                          Visit visit) {
  std::int64_t vertices = std::min(batch_size, limits.vertices);
  for (const int fanout : fanouts) {
    const std::int64_t each =
        fanout < 0 ? limits.max_degree : std::min<std::int64_t>(fanout, limits.max_degree);
    const std::int64_t edges = product_below(vertices, each, limits.edges);
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

std::int64_t most_vertices(const GraphLimits& limits, std::int64_t batch_size, std::span<const int> fanouts) {
  return for_each_hop(limits, batch_size, fanouts, [](std::int64_t, std::int64_t) {});
}

std::int64_t most_edges_under_way(std::span<const int> fanouts) {
  std::int64_t most = chunk_edges;
  for (const int fanout : fanouts) {
    const std::int64_t each = std::max(fanout, 1);
    most = std::max(most, (vertices_a_chunk(each, 1) + 1) * each);
  }
  return most + static_cast<std::int64_t>(far_ahead);
}

std::int64_t most_sampler_bytes(std::int64_t vertices, std::span<const int> fanouts) {
  std::int64_t fanout = 1;
  for (const int each : fanouts) {
    fanout = std::max<std::int64_t>(fanout, each);
  }
  // Room is made for what the edges under way may bring, new or not.
  const std::int64_t under_way = most_edges_under_way(fanouts);
  const std::int64_t members = vertices + under_way;
  // Slots of 8 bytes, 5 of 8 taken and up to two buckets of a cache line more; the vertices' ids.
  const std::int64_t table = members * 8 / 5 * 8 + 3 * 64;
  const std::int64_t ids = (members + 1) * 4;
  // Positions, neighbours and slots of the edges under way; draws of a group; rows of a chunk of vertices.
  const std::int64_t pipeline = (under_way + 2 * static_cast<std::int64_t>(far_ahead)) * (8 + 4 + 4);
  std::int64_t attempts = 0;  // of draws by weight
  for (const int each : fanouts) {
    attempts = std::max(attempts, attempts_at_once(each) * vertices_a_chunk(each, 1));
  }
  return table + ids + pipeline + attempts * (4 + 4) + fanout * most_lanes * 4 +
         chunk_vertices * (8 + 8 + 4 + 4);
}

std::int64_t most_split_bytes(const BatchSizes& sizes, std::span<const int> fanouts, int threads) {
  const std::int64_t vertices = sizes.num_vertices();
  // Each thread has a table and lists of its own; what falls to them is the batch's, and twice as much has
  // room.
  const std::int64_t scratch = threads * most_sampler_bytes(0, fanouts);
  const std::int64_t least = threads * static_cast<std::int64_t>(least_room);
  const std::int64_t tables =
      2 * (most_sampler_bytes(vertices + least, fanouts) - most_sampler_bytes(0, fanouts));
  const std::int64_t locals = 2 * (vertices + least + threads * (most_edges_under_way(fanouts) + 1)) * 4;
  std::int64_t edges = sizes.seeds;
  for (const std::int64_t each : sizes.edges) {
    edges = std::max(edges, each);
  }
  // Ids dealt and owners of a hop's edges, at most those under way more for each pair of threads.
  const std::int64_t under_way =
      threads * threads * (most_edges_under_way(fanouts) + 3 * static_cast<std::int64_t>(far_ahead));
  const std::int64_t dealt =
      2 * ((edges + under_way) * 4 + (edges + threads * most_edges_under_way(fanouts)));
  return scratch + tables + locals + dealt + 2 * (vertices + least) * 4;
}

std::int64_t most_batch_bytes(const BatchSizes& sizes, std::int64_t row_bytes) {
  std::int64_t bytes = sizes.seeds * 8;
  std::int64_t destinations = sizes.seeds;
  for (std::size_t hop = 0; hop < sizes.edges.size(); ++hop) {
    bytes += (destinations + 1) * 8 + sizes.edges[hop] * 4;
    destinations = sizes.vertices[hop];
  }
  return bytes + sizes.num_vertices() * (8 + 4 + row_bytes);
}

}  // namespace gnomon::kernels::cpu
