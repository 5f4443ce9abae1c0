#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// Returns the vertices whose feature rows the cache of a biased plan holds: the share plan.cache.budget of
/// all vertices with the highest out-degrees; ties go to the lower ids. A pure function of plan and graph.
std::vector<graph::VertexId> preferred_rows(const graph::Graph& graph, const plan::Plan& plan);

/// For each of `num_vertices` vertices its index in `vertices`, or -1.
std::vector<std::int32_t> slots_of(std::int64_t num_vertices, const std::vector<graph::VertexId>& vertices);

}  // namespace gnomon::runtime
