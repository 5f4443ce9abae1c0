#pragma once

#include <cstdint>
#include <vector>

#include "graph/store/edges.h"

namespace gnomon::graph {

/// Edges of small graphs, in one direction only; EdgeOptions{.undirected = true} adds the other.
std::vector<Edge> ring_edges(std::int64_t vertices);      ///< v — v+1, and the last vertex — 0
std::vector<Edge> path_edges(std::int64_t vertices);      ///< v — v+1
std::vector<Edge> star_edges(std::int64_t vertices);      ///< v → 0 for all v > 0
std::vector<Edge> complete_edges(std::int64_t vertices);  ///< every pair once

}  // namespace gnomon::graph
