#pragma once

#include "graph/import/import.h"
#include "graph/import/source.h"

namespace gnomon::graph {

/// Opens a directory of the Open Graph Benchmark as a source; see Format. Throws InputError.
GraphSource open_ogb(const ImportOptions& options);

}  // namespace gnomon::graph
