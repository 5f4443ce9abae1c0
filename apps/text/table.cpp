#include "apps/text/table.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace gnomon::apps {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t gap = 2;

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

bool looks_like_a_number(const std::string& cell) {
  return cell.empty() || std::string_view("0123456789+-<").find(cell.front()) != std::string_view::npos;
}

/// The bytes of a text from its character number `begin` up to `end`.
std::string characters(const std::string& text, std::size_t begin, std::size_t end) {
  std::string part;
  std::size_t number = 0;
  for (const char c : text) {
    number += begins_character(c) ? 1 : 0;
    if (number > begin && number <= end) {
      part += c;
    }
  }
  return part;
}

/// A text in at most `width` characters: its middle is elided, as names differ at both ends.
std::string shortened(const std::string& text, std::size_t width) {
  const auto length = width_of(text);
  if (length <= width) {
    return text;
  }
  const auto head = (width - 1) * 2 / 3;
  return characters(text, 0, head) + "…" + characters(text, length - (width - 1 - head), length);
}

/// A heading in lines of at most `width` characters, broken behind blanks, dots and underscores.
Lines broken(const std::string& heading, std::size_t width) {
  Lines lines(1);
  std::string word;
  const auto place = [&] {
    const bool is_blank_last = word.ends_with(' ');
    if (!lines.back().empty() && width_of(lines.back() + word) - (is_blank_last ? 1 : 0) > width) {
      lines.emplace_back();
    }
    lines.back() += word;
    word.clear();
  };
  for (const char c : heading) {
    word += c;
    if (c == ' ' || c == '.' || c == '_') {
      place();
    }
  }
  place();
  for (auto& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
  }
  return lines;
}

std::size_t widest(const Lines& lines) {
  std::size_t width = 0;
  for (const auto& line : lines) {
    width = std::max(width, width_of(line));
  }
  return width;
}

/// A column as it is printed.
struct Column {
  Lines heading;
  Lines cells;
  bool is_flush_right = false;

  std::size_t width() const { return std::max(widest(heading), widest(cells)); }
};

std::size_t total_width(const std::vector<Column>& columns) {
  std::size_t total = 0;
  for (const auto& column : columns) {
    total += column.width() + (total == 0 ? 0 : gap);
  }
  return total;
}

void break_headings(std::vector<Column>& columns) {
  for (auto& column : columns) {
    constexpr std::size_t min_width = 4;
    column.heading = broken(column.heading.front(), std::max(widest(column.cells), min_width));
  }
}

constexpr std::size_t min_text_width = 10;

/// The widest column of texts that can be shortened; the first column, which names the rows, only if no other
/// can. Null if there is none.
Column* column_to_shorten(std::vector<Column>& columns) {
  Column* longest = nullptr;
  for (auto& column : columns) {
    const auto cells = widest(column.cells);
    if (!column.is_flush_right && cells > min_text_width && cells >= column.width() &&
        (longest == nullptr || longest == &columns.front() || cells > widest(longest->cells))) {
      longest = &column;
    }
  }
  return longest;
}

/// Shortens texts until the table fits or nothing can be shortened.
void shorten_texts(std::vector<Column>& columns, std::size_t width) {
  while (total_width(columns) > width) {
    Column* longest = column_to_shorten(columns);
    if (longest == nullptr) {
      return;
    }
    const auto excess = total_width(columns) - width;
    const auto now = widest(longest->cells);
    const auto target = now - std::min(excess, now - min_text_width);
    for (auto& cell : longest->cells) {
      cell = shortened(cell, target);
    }
  }
}

void append_cell(std::string& line, const std::string& cell, std::size_t width, bool right) {
  const std::string padding(width - width_of(cell), ' ');
  line += right ? padding + cell : cell + padding;
}

/// Appends a line with one cell of each column.
template <class CellOf>
void append_line(std::string& text, const std::vector<Column>& columns, const CellOf& cell_of) {
  std::string line;
  for (const auto& column : columns) {
    line += &column == &columns.front() ? "" : std::string(gap, ' ');
    append_cell(line, cell_of(column), column.width(), column.is_flush_right);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

std::string printed(const std::vector<Column>& columns, const std::vector<std::size_t>& rules) {
  std::string text;
  std::size_t heading_lines = 0;
  for (const auto& column : columns) {
    heading_lines = std::max(heading_lines, column.heading.size());
  }
  for (std::size_t line = 0; line < heading_lines; ++line) {
    append_line(text, columns, [&](const Column& column) {
      const auto skipped = heading_lines - column.heading.size();  // headings end on the last line
      return line < skipped ? std::string() : column.heading[line - skipped];
    });
  }
  const auto rule = [](const Column& column) { return std::string(column.width(), '-'); };
  append_line(text, columns, rule);
  for (std::size_t row = 0; row < columns.front().cells.size(); ++row) {
    if (row > 0 && std::find(rules.begin(), rules.end(), row) != rules.end()) {
      append_line(text, columns, rule);
    }
    append_line(text, columns, [row](const Column& column) { return column.cells[row]; });
  }
  return text;
}

}  // namespace

int output_width() {
  constexpr int without_terminal = 100;
  constexpr int min_width = 40;
  const char* asked = std::getenv("COLUMNS");
  if (const int columns = asked == nullptr ? 0 : std::atoi(asked); columns > 0) {
    return std::max(columns, min_width);
  }
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 1 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<int>(size.ws_col, min_width);
  }
  return without_terminal;
}

void Table::add_row(std::vector<std::string> cells) {
  if (cells.size() != headings_.size()) {
    throw std::logic_error("a table row has not one cell for each heading");
  }
  rows_.push_back(std::move(cells));
}

std::string Table::text(int width) const {
  const auto limit = static_cast<std::size_t>(width);
  std::vector<Column> columns(headings_.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].heading = {headings_[i]};
    for (const auto& row : rows_) {
      columns[i].cells.push_back(row[i]);
    }
    columns[i].is_flush_right =
        std::all_of(columns[i].cells.begin(), columns[i].cells.end(), looks_like_a_number);
  }
  if (total_width(columns) > limit) {
    break_headings(columns);
  }
  std::string omitted;
  auto names = headings_;
  for (auto next = omissible_.begin(); next != omissible_.end() && total_width(columns) > limit; ++next) {
    if (const auto found = std::find(names.begin(), names.end(), *next); found != names.end()) {
      columns.erase(columns.begin() + (found - names.begin()));
      names.erase(found);
      omitted += (omitted.empty() ? "" : ", ") + *next;
    }
  }
  shorten_texts(columns, limit);
  return printed(columns, rules_) +
         (omitted.empty() ? "" : "(columns that do not fit: " + omitted + "; see --json)\n");
}

}  // namespace gnomon::apps
