#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/plan.h"

namespace gnomon::tuner {

enum class FieldKind : std::uint8_t { integer, real, category };

/// One field of a plan, as the plan's own field table tells it.
struct Field {
  std::string path;  ///< "cache.budget"
  FieldKind kind = FieldKind::integer;
  base::Range range;               ///< of numbers
  std::vector<std::string> names;  ///< of a category's values; "false" and "true" for a switch
};

/// All fields but texts, in the order of the table; members of nested structs stand for themselves.
std::vector<Field> plan_fields();

/// A plan's fields as numbers, in the order of plan_fields(); a category is the position of its name.
std::vector<double> field_values(const plan::Plan& plan);

/// Sets all fields of plan_fields(). `values` has one number for each.
void set_field_values(plan::Plan& plan, std::span<const double> values);

}  // namespace gnomon::tuner
