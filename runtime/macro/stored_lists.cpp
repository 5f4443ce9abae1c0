#include "runtime/macro/stored_lists.h"

#include <span>

#include "graph/graph.h"

namespace gnomon::runtime {

std::byte* StoredLists::resize(std::size_t count, std::uint64_t index_bytes) {
  memory_.reserve(count * index_bytes, 0);
  count_ = count;
  is_wide_ = index_bytes == sizeof(graph::VertexId);
  return memory_.data();
}

graph::Indices StoredLists::view() const {
  if (is_wide_) {
    return graph::Indices(std::span(reinterpret_cast<const graph::VertexId*>(memory_.data()), count_));
  }
  return graph::Indices(std::span(reinterpret_cast<const std::uint32_t*>(memory_.data()), count_));
}

}  // namespace gnomon::runtime
