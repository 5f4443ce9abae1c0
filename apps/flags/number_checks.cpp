#include "apps/flags/number_checks.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include "base/number_text.h"

namespace gnomon::apps {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// None if `text` is not a finite number.
std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_number = end != text.c_str() && *end == '\0' && std::isfinite(number);
  return is_number ? std::optional(number) : std::nullopt;
}

/// `range`: "0 to 1".
CLI::Validator check_of(double min, double max, const std::string& range, const std::string& type) {
  return {[min, max, range](const std::string& text) -> std::string {
            const auto number = number_of(text);
            if (!number) {
              return "\"" + text + "\" is not a number";
            }
            return *number >= min && *number <= max ? "" : text + " is out of range; use " + range;
          },
          type, "number"};
}

}  // namespace

CLI::Validator in_range(double min, double max) {
  const auto first = base::number_text(min);
  const auto last = base::number_text(max);
  return check_of(min, max, first + " to " + last, "in [" + first + " - " + last + "]");
}

CLI::Validator non_negative() { return check_of(0, infinity, "0 or more", "NON-NEGATIVE"); }

CLI::Validator above_zero() {
  return check_of(std::numeric_limits<double>::denorm_min(), infinity, "a number above 0", "POSITIVE");
}

}  // namespace gnomon::apps
