#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "graph/import/line_reader.h"
#include "graph/store/edges.h"

namespace gnomon::graph {

/// Appends the edges of all lines of a reader. Called by several threads at once.
using ParseEdges = std::function<void(LineReader& lines, std::vector<Edge>& edges)>;

/// Parses the rest of a text file in pieces of whole lines, on all cores, while the pieces that follow are
/// read and decompressed. Visits the edges in the order of the file. Throws what the reader and `parse`
/// throw, for the first line at fault.
void parse_edges(LineReader file, const std::filesystem::path& path, const ParseEdges& parse,
                 const EdgeVisitor& visit);

}  // namespace gnomon::graph
