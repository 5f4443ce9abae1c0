#include "apps/text/table.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace gnomon::apps {
namespace {

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

bool looks_like_a_number(const std::string& cell) {
  return cell.empty() || std::string_view("0123456789+-<").find(cell.front()) != std::string_view::npos;
}

void append_cell(std::string& line, const std::string& cell, std::size_t width, bool right) {
  const std::string padding(width - width_of(cell), ' ');
  line += right ? padding + cell : cell + padding;
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  if (cells.size() != headings_.size()) {
    throw std::logic_error("a table row has not one cell for each heading");
  }
  rows_.push_back(std::move(cells));
}

bool Table::flush_right(std::size_t column) const {
  return std::all_of(rows_.begin(), rows_.end(),
                     [&](const auto& row) { return looks_like_a_number(row[column]); });
}

std::string Table::text() const {
  std::vector<std::string> lines(rows_.size() + 2);
  for (std::size_t column = 0; column < headings_.size(); ++column) {
    std::size_t width = width_of(headings_[column]);
    for (const auto& row : rows_) {
      width = std::max(width, width_of(row[column]));
    }
    const bool right = flush_right(column);
    const std::string gap = column == 0 ? "" : "  ";
    append_cell(lines[0] += gap, headings_[column], width, right);
    lines[1] += gap + std::string(width, '-');
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      append_cell(lines[row + 2] += gap, rows_[row][column], width, right);
    }
  }
  std::string text;
  for (auto& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace gnomon::apps
