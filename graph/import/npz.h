#pragma once

#include "graph/import/import.h"
#include "graph/import/source.h"

namespace gnomon::graph {

/// Opens an .npz archive as a source; see Format. Throws InputError.
GraphSource open_npz(const ImportOptions& options);

}  // namespace gnomon::graph
