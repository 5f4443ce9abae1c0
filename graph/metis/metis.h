#pragma once

#include "base/progress.h"
#include "graph/graph.h"
#include "graph/partition/partition.h"

namespace gnomon::graph {

/// Partitions the graph with METIS's multilevel k-way algorithm into parts of nearly equal numbers of
/// vertices with a small cut. An edge counts once, whatever its direction and weight; self-loops do not
/// count. Takes the undirected graph in memory. Throws base::InputError where this build has no METIS, or for
/// more edges than its ids of
/// 32 bits can count.
PartOf partition_by_metis(const Graph& graph, const PartitionRequest& request,
                          const base::Progress& progress = {});

}  // namespace gnomon::graph
