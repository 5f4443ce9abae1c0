#include "apps/text/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace gnomon::apps {
namespace {

/// Three significant digits without an exponent, for values from 1 to below 1000.
std::string three_digits(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string format_seconds(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) {
    return fmt::format("{} s", seconds);
  }
  if (seconds >= 119.5) {
    const auto whole = std::llround(seconds);
    return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  }
  constexpr std::array<std::string_view, 4> units{"s", "ms", "µs", "ns"};
  std::size_t unit = 0;
  while (seconds != 0 && seconds < 0.9995 && unit + 1 < units.size()) {
    seconds *= 1000;
    ++unit;
  }
  return three_digits(seconds) + " " + std::string(units[unit]);
}

std::string format_bytes_or_none(std::optional<double> bytes) { return bytes ? format_bytes(*bytes) : "-"; }

std::string format_bytes(double bytes) {
  constexpr std::array<std::string_view, 6> units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1023.5 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return (unit == 0 ? fmt::format("{:.0f}", bytes) : three_digits(bytes)) + " " + std::string(units[unit]);
}

std::string format_count(std::int64_t count) {
  auto text = fmt::format("{}", count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t position = text.size(); position > first + 3;) {
    position -= 3;
    text.insert(position, ",");
  }
  return text;
}

std::string format_percent(double share) {
  const double tenths = std::round(1000 * share) + 0.0;  // no "-0.0 %"
  return fmt::format("{:.1f} %", tenths / 10);
}

std::string format_with_interval(double seconds, const std::optional<double>& interval_s) {
  return format_seconds(seconds) + (interval_s ? " +-" + format_percent(*interval_s / seconds) : "");
}

std::string format_change(double share) {
  const double tenths = std::round(1000 * share) + 0.0;
  return fmt::format("{:+.1f} %", tenths / 10);
}

std::string format_number(double value) {
  constexpr double rounding_error = 1e-12;
  if (!std::isfinite(value)) {
    return fmt::format("{}", value);
  }
  if (std::abs(value) < rounding_error) {
    return "0";
  }
  if (std::abs(value) >= 9999.5) {
    return format_count(std::llround(value));
  }
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  auto text = fmt::format("{:.{}f}", value, std::max(0, 3 - magnitude));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    text.erase(text.find_last_not_of('.') + 1);
  }
  return text;
}

std::string format_counted(std::int64_t count, std::string_view one, std::string_view many) {
  return format_count(count) + " " + std::string(count == 1 ? one : many);
}

}  // namespace gnomon::apps
