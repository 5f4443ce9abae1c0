#include "base/size.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace gnomon::base {
namespace {

/// The bytes of a unit in small letters; none if it is unknown.
std::optional<double> bytes_of_unit(std::string unit) {
  if (unit.ends_with('b')) {
    unit.pop_back();
  }
  double base = 1000;
  if (unit.size() == 2 && unit.back() == 'i') {
    unit.pop_back();
    base = 1024;
  }
  if (unit.empty()) {
    return 1;
  }
  const auto power = std::string_view("kmgt").find(unit.front());
  if (unit.size() > 1 || power == std::string_view::npos) {
    return std::nullopt;
  }
  return std::pow(base, static_cast<double>(power + 1));
}

}  // namespace

std::int64_t parse_size(const std::string& where, std::string_view text) {
  constexpr double max_bytes = 1e18;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit;
  for (const char* c = end; c != text.data() + text.size(); ++c) {
    if (*c != ' ') {
      unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    }
  }
  const auto factor = bytes_of_unit(unit);
  if (error != std::errc() || !factor) {
    throw InputError(where, "\"" + std::string(text) + "\" is not a size; use " + std::string(size_units));
  }
  const double bytes = number * *factor;
  if (!(bytes >= 0 && bytes <= max_bytes)) {
    throw InputError(where, "\"" + std::string(text) + "\" is out of range; use 0 to 1000000 TB");
  }
  return std::llround(bytes);
}

}  // namespace gnomon::base
