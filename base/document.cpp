#include "base/document.h"

#include "base/number_text.h"

namespace gnomon::base {
namespace detail {

void wrong_type(const std::string& path, const char* expected, const Json& found) {
  throw InputError(path, std::string("must be ") + expected + ", not " + found.dump().substr(0, 40));
}

void check_range(double number, Range range, const std::string& path) {
  // NaN compares false and is therefore out of range.
  if (!(number >= range.min && number <= range.max)) {
    throw InputError(path, number_text(number) + " is out of range; use " + range_text(range));
  }
}

std::string Reader::path_of(const char* name) const {
  return path_ + (path_.find(": ") == std::string::npos ? ": " : ".") + name;
}

void Reader::finish() const {
  for (const auto& [name, value] : json_.items()) {
    if (!known_.contains(name)) {
      std::string fields;
      for (const auto& known : known_) {
        fields += (fields.empty() ? "" : ", ") + known;
      }
      throw InputError(path_of(name.c_str()), "is not a known field; the fields here are " + fields);
    }
  }
}

}  // namespace detail

std::string range_text(Range range) {
  return std::isinf(range.max) ? "at least " + number_text(range.min)
                               : number_text(range.min) + " to " + number_text(range.max);
}

Json parse_json(std::string_view text, const std::string& where) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string what = error.what();
    const auto at = what.find("parse error");
    throw InputError(where, "not valid JSON: " + what.substr(at == std::string::npos ? 0 : at));
  }
}

void take_schema(Json& json, std::string_view schema, const std::string& where) {
  if (!json.is_object()) {
    detail::wrong_type(where, "an object", json);
  }
  const auto found = json.find("schema");
  if (found == json.end()) {
    throw InputError(where + ": schema", "is missing; must be \"" + std::string(schema) + "\"");
  }
  if (*found != Json(std::string(schema))) {
    throw InputError(where + ": schema",
                     found->dump() + " cannot be read here; must be \"" + std::string(schema) + "\"");
  }
  json.erase("schema");
}

}  // namespace gnomon::base
