#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace gnomon::kernels::cpu {

/// A hash table from global vertex ids to the local ids of one mini-batch: open addressing with linear
/// probing, at most half full. Its memory is reused by all batches, and clear() takes O(1): vertices are
/// numbered consecutively through all batches, and a slot with a number from an earlier batch counts as
/// empty.
class IdTable {
 public:
  /// Removes all vertices.
  void clear() {
    first_ += size_;
    size_ = 0;
  }

  /// Returns the vertex's local id; a vertex that is not in the table is added with the id size().
  std::int32_t find_or_add(graph::VertexId vertex) {
    std::size_t at = home(vertex);
    while (slots_[at].number >= first_) {
      if (slots_[at].vertex == vertex) {
        return static_cast<std::int32_t>(slots_[at].number - first_);
      }
      at = next(at);
    }
    return add(vertex, at);
  }

  /// Returns the vertex's local id, or -1 if it is not in the table.
  std::int32_t find(graph::VertexId vertex) const {
    for (std::size_t at = home(vertex); slots_[at].number >= first_; at = next(at)) {
      if (slots_[at].vertex == vertex) {
        return static_cast<std::int32_t>(slots_[at].number - first_);
      }
    }
    return -1;
  }

  /// Prefetches the slot that find_or_add(vertex) reads first.
  void prefetch(graph::VertexId vertex) const { __builtin_prefetch(&slots_[home(vertex)]); }

  /// The number of vertices added since clear().
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(slots_.size() * sizeof(Slot)); }

 private:
  struct Slot {
    graph::VertexId vertex = -1;
    std::int64_t number = -1;
  };

  // Fibonacci hashing (Knuth, TAOCP 3, §6.4): the high bits of the product depend on all bits of the id.
  std::size_t home(graph::VertexId vertex) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(vertex) * 0x9E3779B97F4A7C15U) >> shift_);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
  std::int32_t add(graph::VertexId vertex, std::size_t at);
  void grow();

  static constexpr int log2_initial_slots = 10;
  std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << log2_initial_slots);
  int shift_ = 64 - log2_initial_slots;
  std::int64_t first_ = 0;  ///< number of this batch's first vertex
  std::int64_t size_ = 0;
};

}  // namespace gnomon::kernels::cpu
