#pragma once

#include <cstdint>

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// A vertex's neighbours: one of the two pointers is set.
struct List {
  const std::int64_t* wide = nullptr;
  const std::uint32_t* narrow = nullptr;
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

  constexpr List operator[](std::int64_t list) const {
    const std::int64_t begin = indptr[list];
    return {indices == nullptr ? nullptr : indices + begin,
            narrow_indices == nullptr ? nullptr : narrow_indices + begin, indptr[list + 1] - begin};
  }
};

/// A graph's structure as a device reads it: all lists, in its own memory or over the link in the host's
/// (mapped), and perhaps copies of the hottest ones in its own (DUCATI's adjacency cache, SIGMOD 2023,
/// section 4). Which list is cached stands in a table, so that ids, and with them the draws, stay the
/// graph's own.
struct Topology {
  Lists lists;
  std::int64_t num_vertices = 0;
  const std::int32_t* slots =
      nullptr;  ///< of each vertex: its list among the cached ones, or -1; may be null
  Lists cached;

  constexpr List neighbours(std::int64_t vertex) const {
    const std::int32_t slot = slots == nullptr ? -1 : slots[vertex];
    return slot < 0 ? lists[vertex] : cached[slot];
  }
};

}  // namespace gnomon::kernels::device
