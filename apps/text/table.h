#pragma once

#include <string>
#include <vector>

namespace gnomon::apps {

/// A table of text cells, printed with aligned columns. A column whose cells all begin with a digit, a sign
/// or '<', or are "-" or empty, is flush right; every other one is flush left.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

  /// Adds a row. Throws std::logic_error unless it has one cell for each heading.
  void add_row(std::vector<std::string> cells);

  /// The headings, a rule and the rows, each ending with a newline. Widths count UTF-8 characters.
  std::string text() const;

 private:
  bool flush_right(std::size_t column) const;
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace gnomon::apps
