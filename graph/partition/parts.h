#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "graph/graph.h"
#include "graph/partition/partition.h"

namespace gnomon::graph {

/// The parts of a graph whose vertices are ordered by part: part i has the vertices bounds[i] …
/// bounds[i + 1] - 1. The memory belongs to the graph's storage.
struct Parts {
  PartitionRequest request;            ///< how they were made
  std::span<const VertexId> bounds{};  ///< parts + 1, ascending from 0 to the number of vertices
  /// The vertices with the largest influence on the training vertices, the largest first (graph/partition/
  /// hubs.h).
  std::span<const VertexId> hubs{};
  int hub_steps = 0;  ///< of the random walk that found them; 0 if there are none

  std::int64_t count() const { return std::ssize(bounds) - 1; }
  std::int64_t vertices_of(std::int64_t part) const {
    return bounds[static_cast<std::size_t>(part) + 1] - bounds[static_cast<std::size_t>(part)];
  }
  std::int32_t part_of(VertexId vertex) const {
    const auto next = std::upper_bound(bounds.begin(), bounds.end(), vertex);
    return static_cast<std::int32_t>(next - bounds.begin() - 1);
  }
};

}  // namespace gnomon::graph
