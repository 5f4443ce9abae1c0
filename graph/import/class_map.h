#pragma once

#include <filesystem>

#include "graph/import/source.h"

namespace gnomon::graph {

/// Reads the labels of a source with settled num_vertices from a JSON object that maps the id of each vertex,
/// as a string, to its class or to an array of 0 and 1 with one element per class. Vertices that it leaves
/// out have no known label. Memory beyond the labels: one vertex's. Throws InputError.
void add_class_map(GraphSource& source, const std::filesystem::path& file);

}  // namespace gnomon::graph
