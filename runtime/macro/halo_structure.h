#pragma once

#include <span>

#include "base/team.h"
#include "graph/graph.h"
#include "runtime/macro/macro_batch.h"

namespace gnomon::runtime {

/// Fills all arrays but the features of a macro-batch of some vertices and their halo, the other vertices
/// from which they aggregate. `own`: ranges of vertices of the graph that do not overlap. Local ids ascend
/// with those of the graph; the halo's lists are empty.
void fill_halo_structure(const graph::Graph& graph, std::span<const std::span<const graph::VertexId>> own,
                         base::Team& team, MacroArrays& arrays);

}  // namespace gnomon::runtime
