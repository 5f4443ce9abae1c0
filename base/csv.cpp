#include "base/csv.h"

namespace gnomon::base {
namespace {

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump();
}

}  // namespace

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string csv_of(const std::vector<Json>& rows) {
  if (rows.empty()) {
    return "";
  }
  std::string heading;
  std::vector<std::string> lines(rows.size());
  std::string separator;
  for (const auto& [key, first] : rows.front().items()) {
    heading += separator + csv_cell(key);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      lines[row] += separator + csv_cell(text_of(rows[row].value(key, Json())));
    }
    separator = ",";
  }
  std::string text = heading + "\n";
  for (const auto& line : lines) {
    text += line + "\n";
  }
  return text;
}

}  // namespace gnomon::base
