#pragma once

#include "base/progress.h"
#include "graph/graph.h"
#include "graph/partition/partition.h"

namespace gnomon::graph {

/// GAP (Huang, PhD thesis, MIT, 2025, chapter 4), a streaming partitioner in the manner of Fennel
/// (Tsourakakis et al., WSDM 2014) that balances each label over the parts. Labels are the classes of
/// training vertices; all other vertices share one additional label.
///
/// Vertices are assigned in the order of their ids. A vertex of label l goes to the part i that maximises
///
///     |N(v) in part i| - c(|vertices of l in part i| / share of l of all vertices)
///     c(x) = alpha · gamma · x^(gamma - 1),  gamma = 1.5,  alpha = sqrt(parts) · edges / vertices^1.5
///
/// where N(v) are the in-neighbours assigned so far. Two candidates suffice: the part with the fewest
/// vertices of l, and the best among the neighbours' parts. Ties go to the lowest part. Each further pass
/// removes every vertex from its part and assigns it again.
///
/// With max_load, Fennel's limit, parts that have reached the limit for l, or for the bytes of their lists
/// and feature rows as stored, are excluded, and the part with the fewest bytes takes the place of that with
/// the fewest vertices of l where this has reached the limit: without it, dense cores of skewed graphs make
/// some parts several times as large as others.
///
/// A pass takes O(edges + vertices · log(parts)) time and reads the adjacency lists in sequence; the memory
/// is 8 bytes per vertex and O(parts · labels).
PartOf partition_gnn_aware(const Graph& graph, const PartitionRequest& request,
                           const base::Progress& progress = {});

}  // namespace gnomon::graph
