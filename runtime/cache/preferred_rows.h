#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// Whether a plan's draws prefer the neighbours whose feature rows its cache holds (A3GNN), so that what the
/// cache holds must be known before the first mini-batch is sampled.
bool prefers_cached(const plan::Plan& plan);

/// Whether the plan's CPU workers leave out the rows that the device's cache holds.
bool leaves_out_cached_rows(const plan::Plan& plan);

/// The vertices whose feature rows the cache of a plan that prefers them holds: the share plan.cache.budget
/// of all vertices, those that are a neighbour of the most vertices first, of equal ones those with the lower
/// number. A function of plan and graph alone.
std::vector<graph::VertexId> preferred_rows(const graph::Graph& graph, const plan::Plan& plan);

/// For each of `num_vertices` vertices its index in `vertices`, or -1.
std::vector<std::int32_t> slots_of(std::int64_t num_vertices, const std::vector<graph::VertexId>& vertices);

}  // namespace gnomon::runtime
