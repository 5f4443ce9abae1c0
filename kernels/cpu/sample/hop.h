#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/block.h"
#include "kernels/cpu/huge_array.h"
#include "kernels/cpu/sample/topology.h"
#include "kernels/sampling_rule.h"
#include "kernels/weighted_rule.h"

// The interface between the sampler and its vectorised part. bench/README.md says what bounds its speed.

namespace gnomon::kernels::cpu {

/// Prefetch distances in edges: an edge's neighbour id is prefetched neighbour_prefetch_distance edges before
/// its local id is assigned, and is loaded slot_prefetch_distance edges before, when its hash slot is
/// prefetched.
inline constexpr std::size_t neighbour_prefetch_distance = 96;
inline constexpr std::size_t slot_prefetch_distance = 24;
/// Limits of the destinations and edges of a chunk, whose data must stay in the cache between drawing and
/// reading.
inline constexpr std::int64_t chunk_vertices = 64;
inline constexpr std::int64_t chunk_edges = 1024;
inline constexpr std::int64_t min_chunk_vertices = 16;
/// Returns the number of destinations in a chunk if each draws `fanout` neighbours, in whole groups of
/// `lanes`.
constexpr std::int64_t vertices_per_chunk(std::int64_t fanout, std::int64_t lanes) {
  const std::int64_t each = std::max<std::int64_t>(fanout, 1);
  return std::clamp(chunk_edges / each / lanes * lanes, min_chunk_vertices, chunk_vertices);
}
/// Which vertices a hop expands. every_hop: all vertices of the batch so far, with fresh draws. once: those
/// that the previous hop added (in the first hop, the seeds), so that each vertex is expanded at most once,
/// as by pyg-lib's neighbor_sample.
enum class Expansion : std::uint8_t { every_hop, once };

/// What a sampler draws beside its fanouts.
struct SamplingRule {
  Expansion expansion = Expansion::every_hop;
  bool replace = false;         ///< draw with replacement (kernels/replacement_rule.h)
  std::uint32_t first_hop = 0;  ///< the number of the first hop, by which its draws are keyed
};

/// The number of lanes of the widest vectors.
inline constexpr std::int64_t max_lanes = 16;

/// Returns the number (even) of attempts that are made for every vertex before any is checked, when `fanout`
/// neighbours are drawn by weight. Few vertices need more attempts.
constexpr std::int64_t initial_attempts(std::int64_t fanout) {
  const std::int64_t each = std::max<std::int64_t>(fanout, 1);
  return (each + each / 2 + 3) / 2 * 2;
}

/// A hash table from global vertex ids (below 2^32) to the local ids of one mini-batch, with open addressing
/// in buckets. A bucket has as many slots as a vector has lanes and is filled from its beginning, so that one
/// vector comparison finds a vertex or the free slot for it. A slot is `id << 32 | local + 1`, or 0 if empty.
/// A full bucket overflows into the next one, and the last into the first.
struct SlotTable {
  HugeArray<std::uint64_t> slots;
  std::size_t buckets = 0;
  std::int64_t max_members = 0;  ///< the number of vertices beyond which the table must grow
};

/// The memory that a worker keeps between batches, and the batch under construction.
struct Workspace {
  SlotTable table;
  HugeArray<std::uint32_t> vertices;   ///< of the batch, in the order of the local ids
  std::int64_t size = 0;               ///< the number of vertices
  std::size_t peak_vertices = 0;       ///< the largest capacity, in vertices, that any batch so far needed
  std::size_t capacity = 0;            ///< the capacity, in vertices, at the begin of a batch
  std::size_t max_vertices = 0;        ///< upper bound of the vertices of this batch
  HugeArray<std::uint64_t> edges;      ///< drawn edges: positions in the graph's indices, not yet read
  HugeArray<std::uint32_t> ids;        ///< neighbours that were read and have no local id yet
  HugeArray<std::uint32_t> homes;      ///< their home buckets in the table
  HugeArray<std::uint32_t> positions;  ///< draws of a group of vertices, interleaved by lane
  HugeArray<std::uint32_t> columns;    ///< a chunk's attempts of weighted draws: columns of alias tables
  HugeArray<std::uint32_t> parts;      ///< the parts of these columns
  HugeArray<std::int64_t> firsts;      ///< row pointers of a chunk of destinations
  HugeArray<std::int64_t> degrees;     ///< their degrees
  HugeArray<std::uint32_t> lane_ids;   ///< their ids and degrees as vector operands
  HugeArray<std::uint32_t> lane_degrees;

  std::size_t bytes() const;
};

/// Throws base::InputError for more than 2^31 - 1 vertices.
void check_batch_size(std::size_t vertices);

/// Empties the table and sizes it for `members` vertices.
void clear_table(SlotTable& table, std::int64_t members);

/// Ends a batch: if the workspace had to grow, reserves headroom for the following batches.
void end_batch(Workspace& work);

/// The arguments of one hop.
struct HopRequest {
  const Topology* topology = nullptr;
  BatchKey key;
  std::uint32_t number = 0;  ///< from 0 at the seeds
  int fanout = 0;
  bool edge_ids = false;   ///< whether to fill the block's edge_ids
  std::int64_t first = 0;  ///< the local id of the first vertex that the hop expands
};

/// Prepares a block for the edges of `destinations` vertices.
void begin_block(std::int64_t destinations, Block& block);

/// Adds `seeds` to an empty workspace. Returns the number of seeds before the first repeated one.
std::size_t add_seeds(const std::int64_t* seeds, std::size_t count, Workspace& work);
/// Draws neighbours for every vertex of the workspace from hop.first on, by weight if the topology has alias
/// tables, assigns local ids to the new vertices, and fills the block.
void sample_hop(const HopRequest& hop, Workspace& work, Block& block);

}  // namespace gnomon::kernels::cpu
