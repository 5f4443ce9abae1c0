#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/index_range.h"
#include "kernels/cpu/sample/hop.h"

// What the vectorised part of the sampler that splits a batch shares with the rest.

namespace gnomon::kernels::cpu {

/// Ids that one thread drew and one numbers; each is replaced by its code (see number_part).
struct Dealt {
  GrowingArray<std::uint32_t> ids;
  std::size_t size = 0;
  std::size_t added = 0;  ///< how many of them were new
};

/// The memory of one of the threads. Vertices fall to parts by a hash of their ids; `work` has the table and
/// the list of those that fell to this one, numbered in the order in which they came.
struct alignas(64) Part {
  Workspace work;
  HugeArray<std::uint32_t> locals;    ///< local id in the batch of each vertex of work.vertices
  std::vector<Dealt> dealt;           ///< what this thread drew, by the part that it falls to
  GrowingArray<std::uint8_t> owners;  ///< that part, for each edge drawn
  GrowingArray<std::uint64_t> edges;  ///< positions in the graph's indices of the edges drawn, when asked for
  base::IndexRange destinations;      ///< for which it drew
  std::size_t drawn = 0;              ///< edges
  std::size_t first = 0;              ///< how many edges of the hop come before them
  std::size_t names = 0;              ///< local id of the first new vertex among them

  std::size_t bytes() const;
};

/// Most threads that share a batch.
inline constexpr int most_parts = 256;

/// Which of `parts` a vertex falls to. The multiplier is not that of the tables, whose buckets must fill
/// evenly whatever part they are of.
constexpr std::uint32_t owner_of(std::uint32_t id, std::uint32_t parts) {
  return static_cast<std::uint32_t>((std::uint64_t{id * 0x85EBCA6BU} * parts) >> 32);
}

/// Forgets what was dealt, and makes room for what is.
void begin_dealing(Part& part, std::size_t parts);
/// Deals `ids` out as if they had been drawn.
void deal(std::span<const std::int64_t> ids, Part& part);

/// Draws for part.destinations, whose ids are in `vertices`, deals the neighbours out, and counts from the
/// first of the destinations where each one's edges end: `ends`, of all destinations.
void draw_part(const Hop& hop, const HugeArray<std::uint32_t>& vertices, Part& part, std::int64_t* ends);

/// Numbers what was dealt to part `own`: thread after thread, so in the order of the edges. Codes are
/// 2 * number + 1 for a vertex at its first appearance in the batch, 2 * number later.
void number_part(std::span<Part> parts, std::size_t own);

}  // namespace gnomon::kernels::cpu
