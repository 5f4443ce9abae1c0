#pragma once

#include "graph/graph.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// The graph with edge weights by which a neighbour that the plan's cache holds, or would hold on a device
/// without memory of its own, is drawn `plan.bias` times as likely as another (A3GNN, section III). The
/// weights are the edges' own if the job draws by weight, else 1, times the bias for preferred_rows()
/// (runtime/cache/preferred_rows.h). Everything else is shared with `graph`, whose memory must outlive the
/// copy unless its `storage` owns it.
graph::Graph biased_graph(const graph::Graph& graph, const plan::Plan& plan, bool by_weight);

}  // namespace gnomon::runtime
