#include "plan/fields.h"

#include <cmath>
#include <type_traits>
#include <utility>

namespace gnomon::plan {
namespace {

/// Integers from this value on are written with an exponent.
constexpr double most_digits = 1e12;

/// Walks a field table and calls visit(path, value, range) for every field that is not a text, members of
/// nested structs included.
template <class Visit>
class Walker {
 public:
  Walker(Visit& visit, std::string prefix) : visit_(visit), prefix_(std::move(prefix)) {}

  template <class T>
  void operator()(const char* name, T& value, base::Range range = {}) {
    using Value = std::remove_const_t<T>;
    if constexpr (std::is_enum_v<Value> || std::is_arithmetic_v<Value>) {
      visit_(prefix_ + name, value, range);
    } else if constexpr (!std::is_same_v<Value, std::string>) {
      Walker inner(visit_, prefix_ + name + ".");
      Value::fields(value, inner);
    }
  }
  template <class T>
  void required(const char* name, T& value, base::Range range = {}) {
    (*this)(name, value, range);
  }

 private:
  Visit& visit_;
  std::string prefix_;
};

template <class PlanType, class Visit>
void for_each_field(PlanType& plan, Visit visit) {
  Walker<Visit> walker(visit, "");
  Plan::fields(plan, walker);
}

template <class T>
double number_of(T value) {
  if constexpr (std::is_enum_v<T>) {
    double position = 0;
    for (const auto& known : base::EnumNames<T>::values) {
      if (known.first == value) {
        break;
      }
      ++position;
    }
    return position;
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
T from_number(double number) {
  if constexpr (std::is_enum_v<T>) {
    return base::EnumNames<T>::values.at(static_cast<std::size_t>(number)).first;
  } else if constexpr (std::is_same_v<T, bool>) {
    return number != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::llround(number));
  } else {
    return number;
  }
}

template <class T>
Field describe(const std::string& path, const T&, base::Range range) {
  if constexpr (std::is_same_v<T, bool>) {
    return {path, FieldKind::category, {}, {"false", "true"}};
  } else if constexpr (std::is_enum_v<T>) {
    Field field{path, FieldKind::category, {}, {}};
    for (const auto& [value, name] : base::EnumNames<T>::values) {
      field.names.emplace_back(name);
    }
    return field;
  } else {
    return {path, std::is_integral_v<T> ? FieldKind::integer : FieldKind::real, range, {}};
  }
}

}  // namespace

std::vector<Field> plan_fields() {
  std::vector<Field> fields;
  const Plan plan;
  for_each_field(plan, [&](const std::string& path, const auto& value, base::Range range) {
    fields.push_back(describe(path, value, range));
  });
  return fields;
}

std::vector<double> field_values(const Plan& plan) {
  std::vector<double> values;
  for_each_field(
      plan, [&](const std::string&, const auto& value, base::Range) { values.push_back(number_of(value)); });
  return values;
}

void set_field_values(Plan& plan, std::span<const double> values) {
  std::size_t next = 0;
  for_each_field(plan, [&](const std::string&, auto& value, base::Range) {
    value = from_number<std::remove_cvref_t<decltype(value)>>(values[next++]);
  });
}

std::string value_text(const Field& field, double value) {
  if (field.kind == FieldKind::category) {
    return field.names.at(static_cast<std::size_t>(value));
  }
  const bool is_whole = value == std::floor(value) && std::abs(value) < most_digits;
  return is_whole ? base::Json(static_cast<std::int64_t>(value)).dump() : base::Json(value).dump();
}

std::string range_text(const Field& field) {
  if (field.kind != FieldKind::category) {
    return value_text(field, field.range.min) + " to " + value_text(field, field.range.max);
  }
  std::string text;
  for (const auto& name : field.names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

}  // namespace gnomon::plan
