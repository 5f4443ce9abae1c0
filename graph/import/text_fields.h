#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gnomon::graph {

/// The fields of one line of text; the storage is reused from line to line.
class Fields {
 public:
  /// Splits a line. `separator` is the character between fields, which may be empty and lose the blanks
  /// around them; 0 stands for any run of blanks, tabs, commas and semicolons. A field in double quotes may
  /// hold separators, and "" for a quote. Returns false if a quote is not closed or is followed by other
  /// text.
  bool split(std::string_view line, char separator);

  std::size_t size() const { return size_; }
  const std::string& operator[](std::size_t field) const { return fields_[field]; }

 private:
  std::string& add();
  bool take_quoted(std::string_view& rest);
  std::vector<std::string> fields_;
  std::size_t size_ = 0;
};

/// Returns the separator of a line for Fields::split: the first of tab, comma and semicolon that occurs
/// outside of quotes, otherwise 0.
char separator_of(std::string_view line);

/// Whether the text is a number, whole or not.
bool is_number(std::string_view text);

/// Returns the whole number that the text is: "3", "+3", "3.0" or "3e0". Returns nothing for other text and
/// for numbers that are not represented exactly.
std::optional<std::int64_t> whole_number(std::string_view text);

/// Returns the number that the text is, in single precision.
std::optional<float> real_number(std::string_view text);

}  // namespace gnomon::graph
