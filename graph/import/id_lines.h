#pragma once

#include <string>
#include <string_view>

#include "graph/import/line_reader.h"
#include "graph/import/text_fields.h"

namespace gnomon::graph {

/// Reads a text file with one vertex id or name per line, optionally in double quotes; plain or gzip, with
/// comments as in an edge list.
class IdLines {
 public:
  explicit IdLines(const std::string& path) : reader_(path) {}

  /// Reads the next id; false at the end. It is valid until the next call. Throws InputError for a bad quote.
  bool next(std::string_view& id);
  std::int64_t line_number() const { return reader_.line_number(); }
  /// Throws InputError for the line that was read last.
  [[noreturn]] void fail(const std::string& what) const { reader_.fail(what); }

 private:
  LineReader reader_;
  Fields fields_;
};

}  // namespace gnomon::graph
