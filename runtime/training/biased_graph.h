#pragma once

#include "graph/graph.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// The graph with edge weights by which a neighbour that the plan's cache would hold is drawn `plan.bias`
/// times as likely as another (A3GNN). The weights are the edges' own if the job draws by weight, else 1,
/// times the bias. The cache would hold the share cache.budget of the vertices, those that are a neighbour of
/// the most vertices, of equal ones those with the lower number. Everything else is shared with `graph`,
/// whose memory must outlive the copy unless its `storage` owns it.
graph::Graph biased_graph(const graph::Graph& graph, const plan::Plan& plan, bool by_weight);

}  // namespace gnomon::runtime
