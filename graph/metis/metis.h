#pragma once

#include "base/progress.h"
#include "graph/graph.h"
#include "graph/partition/partition.h"

namespace gnomon::graph {

/// Partitions the graph with METIS's multilevel k-way algorithm into parts of nearly equal numbers of
/// vertices with a small cut. An edge counts once, whatever its direction and weight; self-loops do not
/// count. Loads the whole undirected graph into memory. Throws base::InputError if this build has no METIS,
/// or if there are more edges than METIS's 32-bit ids can count.
PartOf partition_by_metis(const Graph& graph, const PartitionRequest& request,
                          const base::Progress& progress = {});

}  // namespace gnomon::graph
