#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ranked_bits.h"
#include "graph/graph.h"
#include "runtime/macro/stored_lists.h"

namespace gnomon::runtime {

/// Returns the set of these vertices among `num_vertices`, with its ranks.
base::RankedBits set_of(std::span<const graph::VertexId> vertices, std::int64_t num_vertices);

/// Rows and adjacency lists of the hubs, which stay in memory. A hub's number is its place among all in
/// ascending order.
struct ResidentHubs {
  std::vector<graph::VertexId> vertices;  ///< ascending
  std::vector<std::int64_t> indptr{0};    ///< of the lists
  StoredLists lists;
  std::vector<std::byte> features;
  /// Whether all lists ascend, so that the entries of a part lie together. Then, by find_hub_entries(), the
  /// numbers of the hubs in each list, which every macro-batch has.
  bool ascends = false;
  std::vector<std::int64_t> hub_indptr{0};
  std::vector<std::uint32_t> hub_entries;

  void find_hub_entries(std::int64_t num_vertices);
  graph::Indices list(std::size_t hub) const;
  std::span<const std::uint32_t> hubs_in_list(std::size_t hub) const;
  /// The number of the first hub that is not below the vertex.
  std::uint32_t first_from(graph::VertexId vertex) const;
  std::int64_t bytes() const;
};

}  // namespace gnomon::runtime
