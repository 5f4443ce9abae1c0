#include "graph/import/edge_lines.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gnomon::graph {
namespace {

bool is_valid_weight(float weight) { return std::isfinite(weight) && weight >= 0; }

}  // namespace

EdgeLines::EdgeLines(LineReader reader, const EdgeLayout& layout, bool weighted)
    : reader_(std::move(reader)),
      layout_(layout),
      weighted_(weighted),
      plain_(!layout.names && layout.source == 0 && layout.destination == 1 && layout.weight == 2) {}

LineReader EdgeLines::after_header(const std::string& path, const EdgeLayout& layout) {
  LineReader reader(path);
  if (std::string_view line; layout.header) {
    reader.next_content(line);
  }
  return reader;
}

bool EdgeLines::take_plain(std::string_view line, Edge& edge) const {
  return take_integer(line, edge.source) && take_integer(line, edge.destination) && edge.source >= 0 &&
         edge.destination >= 0 &&
         (!weighted_ || (take_float(line, edge.weight) && is_valid_weight(edge.weight)));
}

void EdgeLines::split(std::string_view line, const char* expected) {
  if (!fields_.split(line, layout_.separator)) {
    reader_.fail("has an unclosed quote, or text after a closing quote; a quote inside of quotes is \"\"");
  }
  if (fields_.size() <= std::max(layout_.source, layout_.destination)) {
    reader_.fail_expected(expected, line);
  }
}

float EdgeLines::weight_of(std::string_view line) const {
  const auto weight = fields_.size() > layout_.weight ? real_number(fields_[layout_.weight]) : std::nullopt;
  if (!weight || !is_valid_weight(*weight)) {
    reader_.fail_expected("two vertex ids and a weight, finite and not negative", line);
  }
  return *weight;
}

bool EdgeLines::next(Edge& edge) {
  std::string_view line;
  if (!reader_.next_content(line)) {
    return false;
  }
  if (plain_ && take_plain(line, edge)) {
    return true;
  }
  constexpr const char* expected = "two vertex ids (comments begin with #)";
  split(line, expected);
  const auto source = whole_number(fields_[layout_.source]);
  const auto destination = whole_number(fields_[layout_.destination]);
  if (!source || !destination) {
    reader_.fail_expected(expected, line);
  }
  if (*source < 0 || *destination < 0) {
    reader_.fail_expected("two vertex ids that are not negative", line);
  }
  edge = {*source, *destination, weighted_ ? weight_of(line) : 1.0F};
  return true;
}

bool EdgeLines::next(NamedEdge& edge) {
  std::string_view line;
  if (!reader_.next_content(line)) {
    return false;
  }
  constexpr const char* expected = "two vertex names (comments begin with #)";
  split(line, expected);
  edge = {fields_[layout_.source], fields_[layout_.destination], weighted_ ? weight_of(line) : 1.0F};
  if (edge.source.empty() || edge.destination.empty()) {
    reader_.fail_expected(expected, line);
  }
  return true;
}

}  // namespace gnomon::graph
