#pragma once

#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"

namespace gnomon::graph {

/// Returns the influence of every vertex on the training vertices T: A^steps e_T, where A is one step of a
/// reverse lazy random walk (Huang, PhD thesis, MIT, 2025, chapter 4). In a step, half of a vertex's mass
/// stays and the other half is spread evenly over its in-neighbours; without in-neighbours, all of it stays.
/// The walk is linear, so starting from all training vertices at once gives the sum over the parts of a
/// partition. Reads all edges once per step, in sequence; uses 16 bytes per vertex.
std::vector<double> influence_on_training(const Graph& graph, int steps, const base::Progress& progress = {});

/// Returns the number of hubs that are a share `ratio` of the vertices.
std::int64_t num_hubs(double ratio, std::int64_t num_vertices);

/// Returns the vertices with the largest influence, the largest first; of equal ones those with the lowest
/// ids. Precondition: 0 <= count <= influence.size().
std::vector<VertexId> most_influential(const std::vector<double>& influence, std::int64_t count);

/// Returns the same vertices in ascending order.
std::vector<VertexId> hubs_of(const std::vector<double>& influence, std::int64_t count);

}  // namespace gnomon::graph
