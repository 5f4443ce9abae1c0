#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/abilities.h"
#include "plan/fields.h"
#include "plan/plan.h"

// What each field of a plan means beside the others: one row for each. check(), resolve(), the refusal of
// plans that a device does not execute and the tuner's search space read this table.

namespace gnomon::plan {

/// A combination of a field with others that contradicts itself.
struct Exclusion {
  bool (*applies)(const Plan&);
  std::function<std::string(const Plan&)> message;  ///< what would be right
};

/// Values of a field that only some devices execute.
struct Need {
  bool (*applies)(const Plan&);
  std::vector<bool Abilities::*> any_of;  ///< one of them suffices; empty: no device executes it
  std::string text = {};                  ///< how refusals name it; empty: the field and its value
};

/// How a search moves a field.
struct Search {
  /// Whether it always keeps its default: it follows from other fields, only slows a plan down, or makes no
  /// difference to the simulator.
  bool is_fixed = false;
  /// Where the search moves it, if not wherever it matters. May be null.
  bool (*where)(const Plan&, const Cores&) = nullptr;
  /// Whether other fields matter or not by this category; such categories are chosen first.
  bool decides = false;
  /// Whether 0 contradicts the plan wherever the field matters.
  bool above_zero = false;
  /// Whether values above the number of an epoch's mini-batches are the same as that number.
  bool counts_batches = true;
  /// Numbers to try, instead of steps through the range.
  std::vector<double> (*values)(const Cores&) = nullptr;
  /// Values of a category that are not tried.
  bool (*leaves_out)(std::string_view value, const Cores&) = nullptr;
  /// Whether a plan equals another one whose field has its default.
  bool (*repeats)(const Plan&) = nullptr;
};

/// The rules of one field.
struct Rule {
  Field field;  ///< path and range or names, from the field tables of plan/plan.h
  /// Whether the field makes a difference beside the plan's other fields, on such a machine.
  bool (*matters)(const Plan&, const Cores&);
  std::vector<Exclusion> excludes = {};
  std::vector<Need> needs = {};
  /// Why the machine has too little for the field's value; empty when it has enough. May be null.
  std::string (*exceeds)(const Plan&, const Cores&) = nullptr;
  Search search = {};
};

/// The rows, in the order of plan_fields().
const std::vector<Rule>& rules();

/// The row of a field. Throws std::out_of_range when there is none.
const Rule& rule_of(std::string_view path);

/// Whether a search tries several values of the field beside the plan's other fields.
bool is_searched(const Rule& rule, const Plan& plan, const Cores& cores);

/// A rule that a plan breaks.
struct Violation {
  std::string path;
  std::string message;
};

/// All of them, in the order of the rows; none when the fields agree with each other.
std::vector<Violation> violations(const Plan& plan);

}  // namespace gnomon::plan
