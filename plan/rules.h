#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/abilities.h"
#include "plan/fields.h"
#include "plan/plan.h"

// How the fields of a plan interact: one row per field. check(), resolve(), the refusal of plans that a
// device does not execute and the tuner's search space read this table.

namespace gnomon::plan {

/// An invalid combination of a field's value with other fields.
struct Exclusion {
  bool (*applies)(const Plan&);
  std::function<std::string(const Plan&)> message;  ///< what would be valid
};

/// Values of a field that only some devices execute.
struct Need {
  bool (*applies)(const Plan&);
  std::vector<bool Abilities::*> any_of;  ///< one of them suffices; empty: no device executes it
  std::string text = {};                  ///< how refusals name it; empty: the field and its value
};

/// How the tuner searches over a field.
struct Search {
  /// Whether it always keeps its default, because it follows from other fields, only makes plans slower, or
  /// has no effect in the simulator.
  bool is_fixed = false;
  /// When the search varies it, if not whenever it matters. May be null.
  bool (*where)(const Plan&, const Cores&) = nullptr;
  /// Whether this category decides which other fields matter; such categories are chosen first.
  bool decides = false;
  /// Whether 0 is invalid whenever the field matters.
  bool above_zero = false;
  /// Whether values above the number of mini-batches in an epoch are equivalent to that number.
  bool counts_batches = true;
  /// Numbers to try, instead of steps through the range.
  std::vector<double> (*values)(const Cores&) = nullptr;
  /// Values of a category that are not tried.
  bool (*leaves_out)(std::string_view value, const Cores&) = nullptr;
  /// Whether the plan is equivalent to one with the field's default.
  bool (*repeats)(const Plan&) = nullptr;
};

/// The rules of one field.
struct Rule {
  Field field;  ///< path and range or names, from the field tables of plan/plan.h
  /// Whether the field has an effect, given the plan's other fields and the machine.
  bool (*matters)(const Plan&, const Cores&);
  std::vector<Exclusion> excludes = {};
  std::vector<Need> needs = {};
  /// Why the field's value exceeds the machine's resources; empty if it does not. May be null.
  std::string (*exceeds)(const Plan&, const Cores&) = nullptr;
  Search search = {};
};

/// The rows, in the order of plan_fields().
const std::vector<Rule>& rules();

/// The row of a field. Throws std::out_of_range when there is none.
const Rule& rule_of(std::string_view path);

/// Whether a search tries several values of the field, given the plan's other fields.
bool is_searched(const Rule& rule, const Plan& plan, const Cores& cores);

/// A rule that a plan breaks.
struct Violation {
  std::string path;
  std::string message;
};

/// Returns all violations, in the order of the rows; empty if the plan is consistent.
std::vector<Violation> violations(const Plan& plan);

}  // namespace gnomon::plan
