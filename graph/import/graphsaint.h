#pragma once

#include "graph/import/import.h"
#include "graph/import/source.h"

namespace gnomon::graph {

/// Whether a directory holds a data set in GraphSAINT's form.
bool is_graphsaint(const std::filesystem::path& directory);

/// Opens a directory in GraphSAINT's form as a source; see Format. Throws InputError.
GraphSource open_graphsaint(const ImportOptions& options);

}  // namespace gnomon::graph
