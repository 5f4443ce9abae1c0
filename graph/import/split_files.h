#pragma once

#include "graph/import/import.h"
#include "graph/import/vertex_ids.h"
#include "graph/splits.h"

namespace gnomon::graph {

/// Reads the split that the options name by files (train_ids, valid_ids, test_ids); empty if they name none.
/// Throws InputError, naming file and line, for an id that is no vertex and for one that is repeated or in
/// two sets.
Split read_split_files(const ImportOptions& options, const VertexIds& ids);

}  // namespace gnomon::graph
