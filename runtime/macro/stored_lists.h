#pragma once

#include <cstddef>
#include <cstdint>

#include "graph/indices.h"
#include "kernels/cpu/huge_array.h"

namespace gnomon::runtime {

/// Concatenated adjacency lists, in a store's element type. Keeps its memory for the next ones.
class StoredLists {
 public:
  /// Makes room for `count` neighbours of `index_bytes` each, 4 or 8, and returns it.
  std::byte* resize(std::size_t count, std::uint64_t index_bytes);
  graph::Indices view() const;
  std::int64_t bytes() const { return static_cast<std::int64_t>(memory_.bytes()); }

 private:
  kernels::cpu::HugeArray<std::byte> memory_;
  std::size_t count_ = 0;
  bool is_wide_ = false;
};

}  // namespace gnomon::runtime
