#include "tuner/explore/patch.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/error.h"

namespace gnomon::tuner {
namespace {

constexpr std::size_t max_values = 100000;

/// "a.b[2].c" as its steps "a", "b", "2", "c".
std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> steps(1);
  for (const char c : path) {
    if (c == '.' || c == '[') {
      steps.emplace_back();
    } else if (c != ']') {
      steps.back() += c;
    }
  }
  return steps;
}

std::string names_in(const base::Json& object) {
  std::string names;
  for (const auto& [name, value] : object.items()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

base::Json& element_at(base::Json& array, const std::string& step, const std::string& where) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size() || index >= array.size()) {
    throw base::InputError(where, "\"" + step + "\" is not one of the " + std::to_string(array.size()) +
                                      " elements, counted from 0");
  }
  return array[index];
}

double number_of(const std::string& text, const std::string& where) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    throw base::InputError(where, "\"" + text + "\" is not a number");
  }
  return number;
}

/// Splits at `separator`, except inside brackets.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == separator && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// Formats with up to twelve digits, so that a step of 0.1 gives 0.3 instead of 0.30000000000000004.
std::string text_of(double value) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.12g", value);
  return {text.data(), static_cast<std::size_t>(length)};
}

std::vector<std::string> range_values(const std::vector<std::string>& parts, const std::string& where) {
  const double least = number_of(parts[0], where);
  const double most = number_of(parts[1], where);
  const bool factor = parts[2].starts_with('*');
  const double step = number_of(factor ? parts[2].substr(1) : parts[2], where);
  if (least > most || (factor ? step <= 1 || least <= 0 : step <= 0)) {
    throw base::InputError(
        where, "must be ascending: lo:hi:step with lo <= hi and step > 0, or lo:hi:*k with lo > 0 and k > 1");
  }
  const double count = factor ? std::log(most / least) / std::log(step) : (most - least) / step;
  if (count >= static_cast<double>(max_values)) {
    throw base::InputError(where, "expands to more than " + std::to_string(max_values) + " values");
  }
  std::vector<std::string> values;
  // Tolerates rounding errors at the upper end.
  for (int i = 0; i <= static_cast<int>(std::floor(count * (1 + 1e-12) + 1e-9)); ++i) {
    values.push_back(text_of(factor ? least * std::pow(step, i) : least + step * i));
  }
  return values;
}

}  // namespace

base::Json& field_at(base::Json& document, const std::string& path, const std::string& where) {
  base::Json* at = &document;
  for (const auto& step : steps_of(path)) {
    if (at->is_array()) {
      at = &element_at(*at, step, where);
    } else if (at->is_object() && at->contains(step)) {
      at = &(*at)[step];
    } else if (at->is_object()) {
      throw base::InputError(where, "\"" + step + "\" is not a field; the fields there are " + names_in(*at));
    } else {
      throw base::InputError(where, "\"" + step + "\" is below a field that has no members");
    }
  }
  return *at;
}

base::Json value_like(const base::Json& present, const std::string& text) {
  if (present.is_string()) {
    return text;
  }
  auto value = base::Json::parse(text, nullptr, false);
  return value.is_discarded() ? base::Json(text) : value;
}

Sweep parse_sweep(const std::string& text) {
  const std::string where = "\"" + text + "\"";
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw base::InputError(where,
                           "must be PATH=VALUES, for instance machine.cpu.cores=2,4 or plan.workers=1:8:1");
  }
  Sweep sweep{text.substr(0, equals), {}};
  const auto values = text.substr(equals + 1);
  const auto ends = split(values, ':');
  sweep.values = ends.size() == 3 ? range_values(ends, where) : split(values, ',');
  return sweep;
}

std::vector<std::vector<Setting>> combinations(const std::vector<Sweep>& sweeps) {
  std::vector<std::vector<Setting>> all(1);
  for (const auto& sweep : sweeps) {
    if (all.size() * sweep.values.size() > max_values) {
      throw base::InputError("sweeps", "have more than " + std::to_string(max_values) + " combinations");
    }
    std::vector<std::vector<Setting>> longer;
    for (const auto& settings : all) {
      for (const auto& value : sweep.values) {
        longer.push_back(settings);
        longer.back().push_back({sweep.path, value});
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace gnomon::tuner
