#pragma once

#include "graph/graph.h"

namespace gnomon::graph {

/// validate(), but reads the data of a store only once: checked.json beside them then holds the size and the
/// time of the last change of each file, and as long as these are the same, the content is not read again.
/// Files that changed within the last second are not marked, nor are stores that cannot be written.
void validate_once(const Graph& graph, bool for_training);

}  // namespace gnomon::graph
