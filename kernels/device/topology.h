#pragma once

#include <cstdint>

#include "kernels/weighted_rule.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// A vertex's neighbours: one of the two pointers is set.
struct List {
  const std::int64_t* wide = nullptr;
  const std::uint32_t* narrow = nullptr;
  const AliasColumn* columns = nullptr;  ///< of draws by weight, or null
  std::int64_t degree = 0;

  constexpr std::int64_t operator[](std::int64_t position) const {
    return narrow != nullptr ? std::int64_t{narrow[position]} : wide[position];
  }
};

/// Adjacency lists in memory that a device reads: one of the two kinds of indices is set.
struct Lists {
  const std::int64_t* indptr = nullptr;  ///< one more than the lists
  const std::int64_t* indices = nullptr;
  const std::uint32_t* narrow_indices = nullptr;
  const AliasColumn* columns = nullptr;  ///< of draws by weight: one an index, or null

  constexpr List operator[](std::int64_t list) const {
    const std::int64_t begin = indptr[list];
    return {indices == nullptr ? nullptr : indices + begin,
            narrow_indices == nullptr ? nullptr : narrow_indices + begin,
            columns == nullptr ? nullptr : columns + begin, indptr[list + 1] - begin};
  }
};

/// A graph's structure as a device reads it: all lists, in its own memory or over the link in the host's
/// (mapped), and perhaps copies of the hottest ones in its own (DUCATI's adjacency cache, SIGMOD 2023,
/// section 4). Which list is cached stands in a table, so that ids, and with them the draws, stay the
/// graph's own. Where the lists have alias tables, the cached ones have theirs, and neighbours are drawn by
/// weight.
struct Topology {
  Lists lists;
  std::int64_t num_vertices = 0;
  const std::int32_t* slots =
      nullptr;  ///< of each vertex: its list among the cached ones, or -1; may be null
  Lists cached;
  const float* weights = nullptr;            ///< of lists: one an index, or null; seldom read
  const std::uint32_t* positives = nullptr;  ///< of each vertex: edges of positive weight; null where all are

  constexpr bool draws_by_weight() const { return lists.columns != nullptr; }
  constexpr List neighbours(std::int64_t vertex) const {
    const std::int32_t slot = slots == nullptr ? -1 : slots[vertex];
    return slot < 0 ? lists[vertex] : cached[slot];
  }
  /// How many neighbours are drawn of a vertex of this degree; a fanout of -1 takes all.
  constexpr std::int64_t num_drawn(std::int64_t vertex, std::int64_t degree, int fanout) const {
    return drawn_by_weight(positives == nullptr ? degree : std::int64_t{positives[vertex]}, fanout);
  }
  /// A vertex's list for draws by weight, its columns where `list` has them.
  constexpr WeightedList weighted_list(std::int64_t vertex, const List& list) const {
    const std::int64_t first = lists.indptr[vertex];
    return {list.columns, weights + first, list.degree, first};
  }
};

}  // namespace gnomon::kernels::device
