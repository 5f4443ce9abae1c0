#include "runtime/cache/cache_parts.h"

#include <algorithm>

namespace gnomon::runtime {

std::vector<CacheContent> distribute(const CacheContent& content, const graph::Graph& graph,
                                     const EntryCosts& sizes, std::vector<std::int64_t> capacities) {
  std::vector<CacheContent> parts(capacities.size());
  const auto give = [&](std::int64_t bytes, graph::VertexId vertex,
                        std::vector<graph::VertexId> CacheContent::*kind) {
    const auto largest = std::max_element(capacities.begin(), capacities.end());
    if (bytes <= *largest) {
      *largest -= bytes;
      (parts[static_cast<std::size_t>(largest - capacities.begin())].*kind).push_back(vertex);
    }
  };
  for (const auto vertex : content.rows) {
    give(sizes.row_bytes, vertex, &CacheContent::rows);
  }
  for (const auto vertex : content.lists) {
    give(list_bytes(graph.degree(vertex), sizes.index_bytes), vertex, &CacheContent::lists);
  }
  return parts;
}

}  // namespace gnomon::runtime
