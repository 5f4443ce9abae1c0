#pragma once

#include <string>
#include <vector>

namespace gnomon::apps {

/// Columns of text that output should fit into: the environment's COLUMNS, else the terminal's width, else
/// 100.
int output_width();

/// A table of text cells, printed with aligned columns. A column whose cells all begin with a digit, a sign
/// or '<', or are "-" or empty, is flush right; every other one is flush left.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}

  /// Names columns that are left out where the table is too wide, the least important first.
  void may_omit(std::vector<std::string> headings) { omissible_ = std::move(headings); }

  /// Adds a row. Throws std::logic_error unless it has one cell for each heading.
  void add_row(std::vector<std::string> cells);
  /// Separates the rows before from those behind by a rule.
  void add_rule() { rules_.push_back(rows_.size()); }

  /// The headings, a rule and the rows, each ending with a newline. Widths count UTF-8 characters. A table
  /// that is wider than `width` breaks its headings into lines, then leaves columns out, which a last line
  /// names, then shortens its longest texts.
  std::string text(int width) const;
  std::string text() const { return text(output_width()); }

 private:
  std::vector<std::string> headings_;
  std::vector<std::string> omissible_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> rules_;  ///< numbers of the rows before which a rule stands
};

}  // namespace gnomon::apps
