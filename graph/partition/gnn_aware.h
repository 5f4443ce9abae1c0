#pragma once

#include "base/progress.h"
#include "graph/graph.h"
#include "graph/partition/partition.h"

namespace gnomon::graph {

/// GAP (Huang, PhD thesis, MIT, 2025, chapter 4), a streaming partitioner in the manner of Fennel
/// (Tsourakakis et al., WSDM 2014) that balances each label over the parts. Labels are the classes of
/// training vertices; all other vertices have one more in common.
///
/// Vertices are placed in the order of their ids. One of label l goes to the part i with the maximum of
///
///     |N(v) in part i| - c(|vertices of l in part i| / share of l of all vertices)
///     c(x) = alpha · gamma · x^(gamma - 1),  gamma = 1.5,  alpha = sqrt(parts) · edges / vertices^1.5
///
/// where N(v) are the in-neighbours that have been placed. Two candidates are enough: the part with the
/// fewest vertices of l, and the best one among those of neighbours. Of equal ones the lowest is chosen. Each
/// further pass takes every vertex out of its part and places it again. With max_load, Fennel's limit, parts
/// of neighbours that have as many vertices of l as it allows are no candidates: without it, dense cores of
/// skewed graphs make some parts several times as large as others.
///
/// A pass takes O(edges + vertices · log(parts)) time and reads the adjacency lists in sequence; the memory
/// is 8 bytes a vertex and O(parts · labels).
PartOf partition_gnn_aware(const Graph& graph, const PartitionRequest& request,
                           const base::Progress& progress = {});

}  // namespace gnomon::graph
