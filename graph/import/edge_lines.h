#pragma once

#include <string>
#include <string_view>

#include "graph/import/edge_layout.h"
#include "graph/import/line_reader.h"
#include "graph/store/builder.h"

namespace gnomon::graph {

/// An edge between named vertices.
struct NamedEdge {
  std::string_view source;
  std::string_view destination;
  float weight = 1;
};

/// Reads the edges of an edge list in a layout, one by one. Throws InputError, which names the file and the
/// line.
class EdgeLines {
 public:
  /// With `weighted`, every line must have a weight. `layout` must outlive it.
  EdgeLines(const std::string& path, const EdgeLayout& layout, bool weighted)
      : EdgeLines(after_header(path, layout), layout, weighted) {}
  /// Reads the lines of a reader positioned after the header.
  EdgeLines(LineReader reader, const EdgeLayout& layout, bool weighted);

  /// Opens an edge list and reads its header, if it has one.
  static LineReader after_header(const std::string& path, const EdgeLayout& layout);

  /// Reads the next edge; false at the end. Precondition: ids are numbers.
  bool next(Edge& edge);
  /// Reads the next edge; false at the end. Its names are valid until the next call.
  bool next(NamedEdge& edge);
  /// Throws InputError for the line that was read last.
  [[noreturn]] void fail(const std::string& what) const { reader_.fail(what); }

 private:
  bool take_plain(std::string_view line, Edge& edge) const;
  void split(std::string_view line, const char* expected);
  float weight_of(std::string_view line) const;

  LineReader reader_;
  const EdgeLayout& layout_;
  bool weighted_;
  bool plain_;  ///< ids are numbers in the first two columns
  Fields fields_;
};

}  // namespace gnomon::graph
