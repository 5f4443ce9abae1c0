#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/index_range.h"
#include "kernels/cpu/sample/hop.h"

// The interface between SplitSampler and its vectorised part.

namespace gnomon::kernels::cpu {

/// The ids that one part sends to another, which owns them. The owner replaces each id by its code (see
/// number_part).
struct IdMessage {
  GrowingArray<std::uint32_t> ids;
  std::size_t size = 0;
  std::size_t added = 0;  ///< the number of ids that were new to the owner
};

/// The state of one thread. Each vertex is owned by one part, chosen by a hash of its id; `work` has the
/// table and the list of the vertices that this part owns, in the order in which they arrived.
struct alignas(64) Part {
  Workspace work;
  HugeArray<std::uint32_t> locals;    ///< the local id in the batch of each vertex in work.vertices
  std::vector<IdMessage> messages;    ///< the neighbours that this thread drew, by owner
  GrowingArray<std::uint8_t> owners;  ///< the owner of each edge's neighbour, in the order of the draws
  GrowingArray<std::uint64_t> edges;  ///< positions of the drawn edges in the graph's indices, if required
  base::IndexRange destinations;      ///< the range that this thread draws for
  std::size_t drawn = 0;              ///< the number of edges that this thread drew
  std::size_t first = 0;              ///< the number of the hop's edges before them
  std::size_t first_new_local = 0;    ///< the local id of the first new vertex among their neighbours

  std::size_t bytes() const;
};

/// The maximum number of threads that share a batch.
inline constexpr int max_parts = 256;

/// Returns the part that owns a vertex. The multiplier differs from the hash tables', so that the vertices of
/// one part spread evenly over the buckets of its table.
constexpr std::uint32_t owner_of(std::uint32_t id, std::uint32_t parts) {
  return static_cast<std::uint32_t>((std::uint64_t{id * 0x85EBCA6BU} * parts) >> 32);
}

/// Clears the messages of a part and sizes them for `parts` receivers.
void clear_messages(Part& part, std::size_t parts);
/// Sends `ids` to their owners, as if `part` had drawn them.
void send_ids(std::span<const std::int64_t> ids, Part& part);

/// Draws for part.destinations, whose ids are in `vertices`, and sends the neighbours to their owners. Writes
/// the end of each destination's edges, counted from the first edge of the range, to `ends`, which is indexed
/// by destination from hop.first on.
void draw_part(const HopRequest& hop, const HugeArray<std::uint32_t>& vertices, Part& part,
               std::int64_t* ends);

/// Numbers the ids that were sent to part `own`, sender by sender and thus in the order of the edges, and
/// replaces them by codes: 2 * number + 1 at a vertex's first appearance in the batch, 2 * number afterwards.
void number_part(std::span<Part> parts, std::size_t own);

}  // namespace gnomon::kernels::cpu
