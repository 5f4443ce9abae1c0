#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

/// The names of vertices, where the input data identify them by text instead of numbers. A store keeps them
/// in names.txt, in UTF-8: line i, counted from 0, is the name of the vertex whose original id is i, so that
/// an order of the vertices leaves the file as it is.
namespace gnomon::graph {

/// What outputs call the vertices of a store.
class VertexNames {
 public:
  /// Reads names.txt of a store into memory. Without one, or for an empty path, a vertex is called by its
  /// original id. Throws InputError if the file cannot be read.
  explicit VertexNames(const std::filesystem::path& store);

  bool any() const { return !begins_.empty(); }
  /// Returns the name of the vertex with this original id (Graph::original_id), without names the id itself.
  /// Throws InputError if the file has no such line.
  std::string of(VertexId original_id) const;
  /// Returns the name as a cell of comma-separated values, in quotes if it must be (RFC 4180).
  std::string csv_cell(VertexId original_id) const;

 private:
  std::string where_;
  std::string text_;
  std::vector<std::size_t> begins_;  ///< of each line in text_
};

/// Writes names.txt of a store. Precondition: no name has a line break. Throws Failure on I/O errors.
void write_names(const std::filesystem::path& store, const std::deque<std::string>& names);

/// Copies names.txt from one store to another, if there is one. Throws Failure on I/O errors.
void copy_names(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace gnomon::graph
