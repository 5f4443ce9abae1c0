#pragma once

#include <string>
#include <vector>

#include "graph/import/import.h"
#include "graph/import/source.h"

namespace gnomon::graph {

/// Opens an .npz archive as a source; see Format. Adds a note for the user if some of its arrays are not
/// imported. Throws InputError.
GraphSource open_npz(const ImportOptions& options, std::vector<std::string>& notes);

}  // namespace gnomon::graph
