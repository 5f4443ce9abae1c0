#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "graph/import/import.h"
#include "graph/import/text_fields.h"

namespace gnomon::graph {

/// How the lines of an edge list are read.
struct EdgeLayout {
  bool header = false;                                  ///< the first line names the columns
  bool names = false;                                   ///< ids are names instead of numbers
  char separator = 0;                                   ///< as in Fields::split
  std::size_t source = 0, destination = 1, weight = 2;  ///< columns
  std::vector<std::string> notes;                       ///< for the user: what was inferred
};

/// Finds the layout from the first two lines of an edge list that are not comments. Throws InputError if
/// there is no edge and for a header whose first column has no name.
EdgeLayout find_layout(const std::string& path, Header header, IdKind ids);

/// Whether a word is a common header of a column of vertex ids, in a file with one id per line.
bool names_an_id_column(std::string_view word);

}  // namespace gnomon::graph
