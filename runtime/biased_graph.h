#pragma once

#include "graph/graph.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// The graph with weights by which a neighbour that the plan's cache would hold is drawn `plan.bias` times as
/// likely as another (A3GNN): the edges' own where the job draws by weight, else 1, times the bias. Without a
/// device of its own the cache is nothing but these vertices, the share cache.budget of all that most
/// neighbourhoods hold; of equal ones those with the lower number. The rest is shared with `graph`, whose
/// memory must outlive the copy unless its `storage` owns it.
graph::Graph leaning_graph(const graph::Graph& graph, const plan::Plan& plan, bool by_weight);

}  // namespace gnomon::runtime
