#pragma once

#include <cstddef>
#include <vector>

#include "graph/store/builder.h"

namespace gnomon::graph {

/// Collects edges into blocks for a visitor; flush() passes on the last, partial block.
class EdgeBlocks {
 public:
  explicit EdgeBlocks(const EdgeVisitor& visit) : visit_(visit) { block_.reserve(capacity); }
  void push(const Edge& edge) {
    block_.push_back(edge);
    if (block_.size() == capacity) {
      flush();
    }
  }
  void flush() {
    visit_(block_);
    block_.clear();
  }

 private:
  static constexpr std::size_t capacity = std::size_t{1} << 17;
  const EdgeVisitor& visit_;
  std::vector<Edge> block_;
};

}  // namespace gnomon::graph
