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

// What the sampler's vectorised part shares with the rest; see bench/README.md for what bounds it.

namespace gnomon::kernels::cpu {

/// How many edges before its turn a neighbour is asked for from memory, and read (its slot is asked for
/// then).
inline constexpr std::size_t far_ahead = 96;
inline constexpr std::size_t near_ahead = 24;
/// Destinations and edges of one chunk: what is drawn at once must still be in the cache when it is read.
inline constexpr std::int64_t chunk_vertices = 64;
inline constexpr std::int64_t chunk_edges = 1024;
inline constexpr std::int64_t least_chunk_vertices = 16;
/// Destinations of a chunk that draw `fanout` neighbours each, in whole groups of `lanes`.
constexpr std::int64_t vertices_a_chunk(std::int64_t fanout, std::int64_t lanes) {
  const std::int64_t each = std::max<std::int64_t>(fanout, 1);
  return std::clamp(chunk_edges / each / lanes * lanes, least_chunk_vertices, chunk_vertices);
}
/// The widest vectors that draw have so many lanes.
inline constexpr std::int64_t most_lanes = 16;

/// How many attempts to draw `fanout` neighbours by weight are made at once for every vertex (even): few draw
/// the same one twice more often.
constexpr std::int64_t attempts_at_once(std::int64_t fanout) {
  const std::int64_t each = std::max<std::int64_t>(fanout, 1);
  return (each + each / 2 + 3) / 2 * 2;
}

/// From global vertex ids (below 2^32) to the local ids of one mini-batch: open addressing in buckets of as
/// many slots as a vector holds, filled from their beginning, so that one comparison finds a vertex or its
/// place. A slot is `id << 32 | local + 1`, 0 when empty. A full bucket overflows into the next one, the last
/// into the first.
struct SlotTable {
  HugeArray<std::uint64_t> slots;
  std::size_t buckets = 0;
  std::int64_t most_members = 0;  ///< before it must grow
};

/// The memory of one worker between batches, and the batch under construction.
struct Workspace {
  SlotTable table;
  HugeArray<std::uint32_t> vertices;  ///< of the batch, in local order
  std::int64_t size = 0;              ///< how many
  std::size_t needed = 0;          ///< the most vertices that there had to be room for, in all batches so far
  std::size_t room = 0;            ///< for how many there is room from a batch's beginning, without growing
  std::size_t most = 0;            ///< the most that this batch can need
  HugeArray<std::uint64_t> edges;  ///< drawn positions in the graph's indices, not yet read
  HugeArray<std::uint32_t> ids;    ///< the neighbours there, not yet numbered
  HugeArray<std::uint32_t> homes;  ///< and their places in the table
  HugeArray<std::uint32_t> positions;  ///< draws of one group of vertices, vertex beside vertex
  HugeArray<std::uint32_t> columns;    ///< attempts to draw by weight of one chunk: columns of alias tables
  HugeArray<std::uint32_t> parts;      ///< and which part of each
  HugeArray<std::int64_t> firsts;      ///< row pointers and degrees of one chunk of destinations
  HugeArray<std::int64_t> degrees;
  HugeArray<std::uint32_t> lane_ids;  ///< its vertices and their degrees as the vectors read them
  HugeArray<std::uint32_t> lane_degrees;

  std::size_t bytes() const;
};

/// Throws base::InputError for more than 2^31 - 1 vertices.
void check_batch_size(std::size_t vertices);

/// Empties the table and makes room for `members`.
void clear_table(SlotTable& table, std::int64_t members);

/// Ends a batch: when it grew the workspace, leaves slack for those that come.
void settle(Workspace& work);

/// One hop: draws (by weight, where the topology has weights) for every vertex of the workspace, numbers what
/// is new, and fills the block.
struct Hop {
  const Topology* topology = nullptr;
  BatchKey key;
  std::uint32_t number = 0;
  int fanout = 0;
  bool edge_ids = false;  ///< whether the block's are asked for
};

/// Readies a block for the edges of `destinations` vertices.
void begin_block(std::int64_t destinations, Block& block);

/// Adds `seeds`; returns how many came before the first that was there already.
std::size_t add_seeds(const std::int64_t* seeds, std::size_t count, Workspace& work);
void sample_hop(const Hop& hop, Workspace& work, Block& block);

}  // namespace gnomon::kernels::cpu
