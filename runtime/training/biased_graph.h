#pragma once

#include "graph/graph.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// Returns the graph with edge weights by which a neighbour in the plan's cache (real, or virtual on a device
/// without memory of its own) is `plan.bias` times as likely to be drawn as another (A3GNN, section III). The
/// weights are the edges' own if the job draws by weight, else 1, times the bias for preferred_rows()
/// (runtime/cache/preferred_rows.h). Everything else is shared with `graph`, whose memory must outlive the
/// copy unless its `storage` owns it.
graph::Graph biased_graph(const graph::Graph& graph, const plan::Plan& plan, bool by_weight);

}  // namespace gnomon::runtime
