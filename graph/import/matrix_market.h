#pragma once

#include "graph/import/import.h"
#include "graph/import/source.h"

namespace gnomon::graph {

/// Opens a Matrix Market file as a source; see Format. Throws InputError.
GraphSource open_matrix_market(const ImportOptions& options);

}  // namespace gnomon::graph
