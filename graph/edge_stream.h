#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/index.h"
#include "graph/fill_blocks.h"
#include "graph/graph.h"
#include "graph/store/edges.h"

namespace gnomon::graph {

/// The graph's edges with the ids that new_id(id) gives, read in sequence. `graph` must outlive the stream.
template <class NewId>
EdgeStream edges_as(const Graph& graph, NewId new_id) {
  return [&graph, new_id](const EdgeVisitor& visit) {
    constexpr std::int64_t block_edges = 1 << 16;
    const auto fill = [&](std::int64_t, std::int64_t edge, std::span<Edge> edges) {
      auto end = std::upper_bound(graph.indptr.begin(), graph.indptr.end(), edge);  // of the row
      for (Edge& renumbered : edges) {
        while (*end <= edge) {
          ++end;
        }
        const auto position = base::at(edge);
        renumbered = {new_id(graph.indices[position]), new_id(end - graph.indptr.begin() - 1),
                      graph.edge_weights.empty() ? 1.0F : graph.edge_weights[position]};
        ++edge;
      }
    };
    fill_blocks<Edge>(graph.num_edges(), block_edges, fill, visit);
  };
}

}  // namespace gnomon::graph
