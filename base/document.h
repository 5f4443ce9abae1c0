#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/atomic_file.h"
#include "base/error.h"

/// JSON documents from one field table per struct. A struct T declares
///
///     template <class Self, class Fields>
///     static void fields(Self& self, Fields& f) {
///       f("workers", self.workers, base::Range{0, 4096});
///       f.required("name", self.name);
///     }
///
/// and that one table parses, checks, prints and sweeps it. A std::optional field may be absent or null.
/// Unknown fields, wrong types, numbers out of range and NaN throw InputError, which names the file and the
/// field's path.
namespace gnomon::base {

using Json = nlohmann::ordered_json;

/// The closed interval of a field's valid numbers.
struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool zero_is_absent = false;  ///< an optional field reads 0, older documents' "unknown", as absent
};

/// A range as messages write it: "0 to 4096", "at least 1".
std::string range_text(Range range);

inline constexpr Range non_negative{0, std::numeric_limits<double>::infinity()};

/// The names of an enumeration's values. Specialise it with
/// `static constexpr std::array<std::pair<E, std::string_view>, N> values`.
template <class E>
struct EnumNames;

template <class E>
std::string_view name_of(E value) {
  for (const auto& [known, name] : EnumNames<E>::values) {
    if (known == value) {
      return name;
    }
  }
  return "?";
}

/// Returns the value called `name`. Throws InputError that lists the known names.
template <class E>
E value_of(const std::string& where, std::string_view name) {
  std::string known_names;
  for (const auto& [known, known_name] : EnumNames<E>::values) {
    if (known_name == name) {
      return known;
    }
    known_names += (known_names.empty() ? "" : ", ") + std::string(known_name);
  }
  throw InputError(where, "\"" + std::string(name) + "\" is not known; use one of " + known_names);
}

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// How a document shows optional fields without a value.
enum class Absent : std::uint8_t { left_out, as_null };

/// Reads one JSON value into `value`. `path` names it in errors; `range` applies to numbers.
template <class T>
void read_value(const Json& json, T& value, const std::string& path, Range range);

/// Returns a value as JSON.
template <class T>
Json write_value(const T& value, Absent absent = Absent::left_out);

namespace detail {

[[noreturn]] void wrong_type(const std::string& path, const char* expected, const Json& found);
void check_range(double number, Range range, const std::string& path);

class Reader {
 public:
  Reader(const Json& json, std::string path) : json_(json), path_(std::move(path)) {
    if (!json.is_object()) {
      wrong_type(path_, "an object", json);
    }
  }
  /// An optional field: if it is absent, `value` keeps its default.
  template <class T>
  void operator()(const char* name, T& value, Range range = {}) {
    known_.insert(name);
    if (const auto found = json_.find(name); found != json_.end()) {
      read_value(*found, value, path_of(name), range);
    }
  }
  /// Throws InputError if the field is absent.
  template <class T>
  void required(const char* name, T& value, Range range = {}) {
    if (!json_.contains(name)) {
      throw InputError(path_of(name), "is missing");
    }
    (*this)(name, value, range);
  }
  /// Throws InputError for the first field that no call has named.
  void finish() const;

 private:
  std::string path_of(const char* name) const;
  const Json& json_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
};

class Writer {
 public:
  explicit Writer(Absent absent) : absent_(absent) {}
  template <class T>
  void operator()(const char* name, const T& value, Range = {}) {
    if constexpr (IsOptional<T>::value) {
      if (!value && absent_ == Absent::left_out) {
        return;
      }
    }
    json[name] = write_value(value, absent_);
  }
  template <class T>
  void required(const char* name, const T& value, Range range = {}) {
    (*this)(name, value, range);
  }
  Json json = Json::object();

 private:
  Absent absent_;
};

template <class T>
void read_number(const Json& json, T& value, const std::string& path, Range range) {
  if constexpr (std::is_integral_v<T>) {
    if (!json.is_number_integer()) {
      wrong_type(path, "an integer", json);
    }
  } else if (!json.is_number()) {
    wrong_type(path, "a number", json);
  }
  const auto number = json.get<double>();
  check_range(number, range, path);
  if constexpr (std::is_integral_v<T>) {
    // As doubles, the largest integers and those above them are equal.
    constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > max) {
      throw InputError(path, json.dump() + " is out of range; use at most " + std::to_string(max));
    }
    check_range(number,
                {static_cast<double>(std::numeric_limits<T>::min()),
                 static_cast<double>(std::numeric_limits<T>::max())},
                path);
  }
  value = json.get<T>();
}

}  // namespace detail

template <class T>
void read_value(const Json& json, T& value, const std::string& path, Range range) {
  if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) {
      detail::wrong_type(path, "true or false", json);
    }
    value = json.get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) {
      detail::wrong_type(path, "a string", json);
    }
    value = json.get<std::string>();
  } else if constexpr (std::is_enum_v<T>) {
    if (!json.is_string()) {
      detail::wrong_type(path, "a string", json);
    }
    value = value_of<T>(path, json.get<std::string>());
  } else if constexpr (std::is_arithmetic_v<T>) {
    detail::read_number(json, value, path, range);
  } else if constexpr (IsOptional<T>::value) {
    if (json.is_null() || (range.zero_is_absent && json == Json(0))) {
      value.reset();
      return;
    }
    value.emplace();
    read_value(json, *value, path, range);
  } else if constexpr (IsVector<T>::value) {
    if (!json.is_array()) {
      detail::wrong_type(path, "an array", json);
    }
    value.clear();
    for (std::size_t i = 0; i < json.size(); ++i) {
      read_value(json[i], value.emplace_back(), path + "[" + std::to_string(i) + "]", range);
    }
  } else {
    detail::Reader reader(json, path);
    T::fields(value, reader);
    reader.finish();
  }
}

template <class T>
Json write_value(const T& value, Absent absent) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string> || std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name_of(value));
  } else if constexpr (IsOptional<T>::value) {
    return value ? write_value(*value, absent) : Json(nullptr);
  } else if constexpr (IsVector<T>::value) {
    Json array = Json::array();
    for (const auto& item : value) {
      array.push_back(write_value(item, absent));
    }
    return array;
  } else {
    detail::Writer writer(absent);
    T::fields(value, writer);
    return writer.json;
  }
}

/// Parses JSON text; `where` names its origin. Throws InputError with the line and column of a syntax error.
Json parse_json(std::string_view text, const std::string& where);

/// Removes the field "schema" after checking that it holds `schema`. Throws InputError if it does not.
void take_schema(Json& json, std::string_view schema, const std::string& where);

/// Reads a struct T that declares `static constexpr std::string_view schema` from a document. Throws
/// InputError.
template <class T>
T from_document(Json json, const std::string& where) {
  take_schema(json, T::schema, where);
  T value;
  read_value(json, value, where, {});
  return value;
}

/// Reads a document from a file. Throws InputError.
template <class T>
T read_document(const std::filesystem::path& path) {
  return from_document<T>(parse_json(read_file(path), path.string()), path.string());
}

/// Returns a value as a document: its fields behind "schema".
template <class T>
Json to_document(const T& value, Absent absent = Absent::left_out) {
  Json json = {{"schema", std::string(T::schema)}};
  json.update(write_value(value, absent));
  return json;
}

/// Writes a document atomically, indented by two spaces. Throws Failure.
template <class T>
void write_document(const std::filesystem::path& path, const T& value) {
  write_file_atomically(path, to_document(value).dump(2) + "\n");
}

}  // namespace gnomon::base
