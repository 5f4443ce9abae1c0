#pragma once

#include <cstdint>
#include <limits>

#include "kernels/weighted_rule.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// A vertex's neighbour list, with 64-bit or 32-bit ids: one of `wide` and `narrow` is set.
struct List {
  const std::int64_t* wide = nullptr;
  const std::uint32_t* narrow = nullptr;
  const AliasColumn* columns = nullptr;  ///< the alias table; null for uniform draws
  std::int64_t degree = 0;

  constexpr std::int64_t operator[](std::int64_t position) const {
    return narrow != nullptr ? std::int64_t{narrow[position]} : wide[position];
  }
};

/// Neighbour lists in memory that a device can read: one of the two kinds of indices is set.
struct Lists {
  const std::int64_t* indptr = nullptr;  ///< number of lists + 1
  const std::int64_t* indices = nullptr;
  const std::uint32_t* narrow_indices = nullptr;
  const AliasColumn* columns = nullptr;  ///< the alias tables, one column per index; null for uniform draws

  constexpr List operator[](std::int64_t list) const {
    const std::int64_t begin = indptr[list];
    return {indices == nullptr ? nullptr : indices + begin,
            narrow_indices == nullptr ? nullptr : narrow_indices + begin,
            columns == nullptr ? nullptr : columns + begin, indptr[list + 1] - begin};
  }
};

/// A graph's structure as a device reads it: all lists, in device memory or in mapped host memory, and
/// optionally copies of the hottest lists in device memory (DUCATI's adjacency cache, SIGMOD 2023, section
/// 4). `slots` maps vertices to cached lists, so that ids, and therefore the draws, do not depend on the
/// cache. If the lists have alias tables, neighbours are drawn by weight; the cached lists then have them,
/// too.
struct Topology {
  Lists lists;
  std::int64_t num_vertices = 0;
  const std::int32_t* slots = nullptr;  ///< each vertex's list in `cached`, or -1; null without a cache
  Lists cached;
  const float* weights = nullptr;  ///< one per index of `lists`, or null; rarely read
  const std::uint32_t* positives =
      nullptr;  ///< each vertex's number of positive weights; null if all are positive
  /// An upper bound of the lists' lengths, by which weighted draws skip what long lists need.
  std::int64_t max_degree = std::numeric_limits<std::int64_t>::max();

  constexpr bool draws_by_weight() const { return lists.columns != nullptr; }
  constexpr List neighbours(std::int64_t vertex) const {
    const std::int32_t slot = slots == nullptr ? -1 : slots[vertex];
    return slot < 0 ? lists[vertex] : cached[slot];
  }
  /// Returns the number of neighbours to draw for a vertex of this degree; a fanout of -1 takes all.
  constexpr std::int64_t num_drawn(std::int64_t vertex, std::int64_t degree, int fanout) const {
    return drawn_by_weight(positives == nullptr ? degree : std::int64_t{positives[vertex]}, fanout);
  }
  /// Returns a vertex's list for weighted draws, with the alias table of `list`, which may be the cached
  /// copy.
  constexpr WeightedList weighted_list(std::int64_t vertex, const List& list) const {
    const std::int64_t first = lists.indptr[vertex];
    return {list.columns, weights + first, list.degree, first};
  }
};

}  // namespace gnomon::kernels::device
