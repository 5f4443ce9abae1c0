#include "graph/import/text_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gnomon::graph {
namespace {

constexpr std::string_view blanks = " \t";
constexpr std::string_view any_separator = " \t,;";

void trim_front(std::string_view& text, std::string_view characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
}

std::string_view without_blanks_behind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

template <class T>
std::optional<T> parse(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  T value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc{} && end == last ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string& Fields::add() {
  if (size_ == fields_.size()) {
    fields_.emplace_back();
  }
  auto& field = fields_[size_++];
  field.clear();
  return field;
}

bool Fields::take_quoted(std::string_view& rest) {
  auto& field = add();
  for (std::size_t at = 1; at < rest.size(); ++at) {
    if (rest[at] != '"') {
      field += rest[at];
    } else if (at + 1 < rest.size() && rest[at + 1] == '"') {
      field += rest[at++];
    } else {
      rest.remove_prefix(at + 1);
      return true;
    }
  }
  return false;
}

bool Fields::split(std::string_view line, char separator) {
  size_ = 0;
  const std::string_view around = separator == '\t' ? " " : blanks;
  const std::string_view ends = separator == 0 ? any_separator : std::string_view(&separator, 1);
  for (std::string_view rest = line;;) {
    trim_front(rest, separator == 0 ? any_separator : around);
    if (separator == 0 && rest.empty()) {
      return true;
    }
    if (rest.starts_with('"')) {
      if (!take_quoted(rest)) {
        return false;
      }
      if (separator != 0) {
        trim_front(rest, around);
      }
      if (!rest.empty() && ends.find(rest[0]) == std::string_view::npos) {
        return false;
      }
    } else {
      const std::size_t end = std::min(rest.find_first_of(ends), rest.size());
      add() = without_blanks_behind(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    if (rest.empty()) {
      return true;
    }
    rest.remove_prefix(separator == 0 ? 0 : 1);
  }
}

char separator_of(std::string_view line) {
  bool quoted = false;
  bool comma = false;
  bool semicolon = false;
  for (const char c : line) {
    quoted ^= c == '"';
    if (!quoted && c == '\t') {
      return '\t';
    }
    comma |= !quoted && c == ',';
    semicolon |= !quoted && c == ';';
  }
  return comma ? ',' : semicolon ? ';' : '\0';
}

bool is_number(std::string_view text) {
  // Text such as nan and inf counts as a name.
  return text.find_first_of("0123456789") != std::string_view::npos && parse<double>(text).has_value();
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  if (const auto integer = parse<std::int64_t>(text)) {
    return integer;
  }
  const auto real = parse<double>(text);
  if (!real || std::fabs(*real) > 0x1p53 || *real != std::floor(*real)) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*real);
}

std::optional<float> real_number(std::string_view text) { return parse<float>(text); }

}  // namespace gnomon::graph
