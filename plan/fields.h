#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/plan.h"

namespace gnomon::plan {

enum class FieldKind : std::uint8_t { integer, real, category };

/// One field of a plan, as read from the field tables of plan/plan.h.
struct Field {
  std::string path;  ///< "cache.budget"
  FieldKind kind = FieldKind::integer;
  base::Range range;               ///< of numbers
  std::vector<std::string> names;  ///< a category's values in the order of the enumeration; "false", "true"
};

/// All fields except the texts `name` and `source`, in the order of the field tables; a nested struct is
/// replaced by its members.
std::vector<Field> plan_fields();

/// A plan's fields as numbers, in the order of plan_fields(); a category is the position of its name.
std::vector<double> field_values(const Plan& plan);

/// Sets all fields of plan_fields(). Precondition: `values` has one number for each.
void set_field_values(Plan& plan, std::span<const double> values);

/// A value of a field as documents write it: 0.5, false, as_ready.
std::string value_text(const Field& field, double value);

/// The values that a field accepts, as messages and documents write them: "0 to 4096", "index, as_ready".
std::string range_text(const Field& field);

}  // namespace gnomon::plan
