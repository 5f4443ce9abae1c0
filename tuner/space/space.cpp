#include "tuner/space/space.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "plan/rules.h"
#include "plan/values.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;

/// The maximum number of points that has_plans() tries.
constexpr std::int64_t max_tries = 200'000;

double value_of(const plan::Field& field, const std::string& text) {
  if (field.kind == plan::FieldKind::category) {
    const auto found = std::find(field.names.begin(), field.names.end(), text);
    if (found == field.names.end()) {
      std::string known;
      for (const auto& name : field.names) {
        known += (known.empty() ? "" : ", ") + name;
      }
      throw base::InputError("plan." + field.path, "\"" + text + "\" is not known; use one of " + known);
    }
    return static_cast<double>(found - field.names.begin());
  }
  double value = 0;
  const base::Json json = base::parse_json(text, "plan." + field.path);
  base::read_value(json, value, "plan." + field.path, field.range);
  return value;
}

/// The number of categories that are chosen before all others.
std::size_t num_deciding() {
  const auto& rules = plan::rules();
  return static_cast<std::size_t>(
      std::count_if(rules.begin(), rules.end(), [](const plan::Rule& rule) { return rule.search.decides; }));
}

std::string message_of(const Plan& plan, const plan::Cores& cores) {
  try {
    plan::resolve(plan, cores, "plan");
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

}  // namespace

Space::Space(SpaceRequest request) : request_(std::move(request)), defaults_(plan::field_values(Plan{})) {
  make_dimensions();
  Point point(dimensions_.size(), -1);
  make_families(0, point);
  if (!has_plans()) {
    throw NoPlans();
  }
  name_families();
}

Dimension Space::dimension_of(std::size_t position) const {
  const auto& rule = plan::rules()[position];
  Dimension dimension{rule.field, position, {}, false};
  if (const auto asked = request_.values.find(rule.field.path); asked != request_.values.end()) {
    for (const auto& text : asked->second) {
      dimension.values.push_back(value_of(rule.field, text));
    }
    std::sort(dimension.values.begin(), dimension.values.end());
  } else {
    dimension.values = plan::values_to_try(rule, request_.cores, request_.batches);
  }
  dimension.log_scale =
      !dimension.is_category() && dimension.values.back() > 10 * std::max(0.1, dimension.values.front());
  return dimension;
}

/// Categories come first, starting with those that decide which other fields matter.
void Space::make_dimensions() {
  const auto& rules = plan::rules();
  for (std::size_t position = 0; position < rules.size(); ++position) {
    dimensions_.push_back(dimension_of(position));
  }
  for (const auto& [path, texts] : request_.values) {
    if (std::none_of(rules.begin(), rules.end(), [&](const auto& rule) { return rule.field.path == path; })) {
      throw base::InputError("plan." + path, "is not a field that can be searched");
    }
  }
  const auto rank = [&](const Dimension& dimension) {
    return std::pair(!dimension.is_category(), !rules[dimension.position].search.decides);
  };
  std::stable_sort(dimensions_.begin(), dimensions_.end(),
                   [&](const Dimension& a, const Dimension& b) { return rank(a) < rank(b); });
}

bool Space::is_searched(std::size_t dimension, const Plan& plan) const {
  return plan::is_searched(plan::rules()[dimensions_[dimension].position], plan, request_.cores);
}

/// Whether the deciding categories of a point are compatible.
bool Space::is_consistent(const Point& point) const {
  const auto& rules = plan::rules();
  Plan plan = raw_plan(point);
  auto values = plan::field_values(plan);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].search.above_zero) {
      values[i] = rules[i].matters(plan, request_.cores) ? rules[i].field.range.max : 0;
    }
  }
  plan::set_field_values(plan, values);
  return message_of(plan, request_.cores).empty();
}

void Space::make_families(std::size_t next, Point& point) {
  // The remaining categories rarely conflict with the deciding ones.
  if (next == num_deciding() && !is_consistent(point)) {
    return;
  }
  if (next == dimensions_.size() || !dimensions_[next].is_category()) {
    add_family(point);
    return;
  }
  if (!is_searched(next, raw_plan(point))) {
    make_families(next + 1, point);
    return;
  }
  for (int choice = 0; choice < std::ssize(dimensions_[next].values); ++choice) {
    point[next] = choice;
    if (may_pass(point, next)) {
      make_families(next + 1, point);
    }
  }
  point[next] = -1;
}

bool Space::passes_by_field(const Point& point) const {
  const Plan plan = raw_plan(point);
  return std::all_of(
      request_.constraints.begin(), request_.constraints.end(),
      [&](const Constraint& constraint) { return !constraint.by_field || constraint.why_not(plan).empty(); });
}

/// Whether constraints by field may accept the categories up to `last`. A later category's default can
/// contradict them where another of its values does not: a cache's place follows its policy.
bool Space::may_pass(const Point& point, std::size_t last) const {
  if (passes_by_field(point)) {
    return true;
  }
  const Plan plan = raw_plan(point);
  for (std::size_t d = last + 1; d < dimensions_.size() && dimensions_[d].is_category(); ++d) {
    Point changed = point;
    for (int choice = 0; is_searched(d, plan) && choice < std::ssize(dimensions_[d].values); ++choice) {
      changed[d] = choice;
      if (passes_by_field(changed)) {
        return true;
      }
    }
  }
  return false;
}

std::vector<int> Space::choices_of(const Point& point, std::size_t dimension) const {
  std::vector<int> choices;
  Point changed = point;
  for (int choice = 0; choice < std::ssize(dimensions_[dimension].values); ++choice) {
    changed[dimension] = choice;
    if (passes_by_field(changed)) {
      choices.push_back(choice);
    }
  }
  return choices;
}

void Space::add_family(const Point& point) {
  Family family{point, {}, size_, 1, ""};
  family.choices.resize(dimensions_.size());
  const Plan plan = raw_plan(point);
  const auto& rules = plan::rules();
  if (!passes_by_field(point) || std::any_of(rules.begin(), rules.end(), [&](const plan::Rule& rule) {
        return rule.search.repeats != nullptr && rule.search.repeats(plan);
      })) {
    return;
  }
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (dimensions_[d].is_category() || !is_searched(d, plan)) {
      continue;
    }
    auto choices = choices_of(point, d);
    if (rules[dimensions_[d].position].search.above_zero) {
      std::erase_if(choices, [&](int c) { return dimensions_[d].values[static_cast<std::size_t>(c)] <= 0; });
    }
    family.size *= std::ssize(choices);
    family.choices[d] = std::move(choices);
  }
  if (family.size == 0) {
    return;
  }
  size_ += family.size;
  family_by_categories_.emplace(family.categories, families_.size());
  families_.push_back(std::move(family));
}

/// Tries points spread over the space. Most spaces have a feasible one among the first.
bool Space::has_plans() const {
  const std::int64_t step = std::max<std::int64_t>(1, size_ / max_tries);
  for (std::int64_t number = 0; number < size_; number += step) {
    if (is_feasible(at(number))) {
      return true;
    }
  }
  return false;
}

Plan Space::raw_plan(const Point& point) const {
  std::vector<double> values = defaults_;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (point[d] >= 0) {
      values[dimensions_[d].position] = dimensions_[d].values[static_cast<std::size_t>(point[d])];
    }
  }
  Plan plan;
  plan::set_field_values(plan, values);
  plan.exact = !plan::changes_training(plan);
  return plan;
}

Point Space::at(std::int64_t number) const {
  const auto after = std::upper_bound(families_.begin(), families_.end(), number,
                                      [](std::int64_t n, const Family& family) { return n < family.first; });
  const Family& family = *std::prev(after);
  std::int64_t rest = number - family.first;
  Point point = family.categories;
  for (std::size_t d = dimensions_.size(); d-- > 0;) {
    if (const auto& choices = family.choices[d]; !choices.empty()) {
      point[d] = choices[static_cast<std::size_t>(rest % std::ssize(choices))];
      rest /= std::ssize(choices);
    }
  }
  return point;
}

std::int64_t Space::number_of(const Point& point) const {
  const Family& family = family_of(point);
  std::int64_t number = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (const auto& choices = family.choices[d]; !choices.empty()) {
      const auto found = std::lower_bound(choices.begin(), choices.end(), point[d]);
      number = number * std::ssize(choices) + (found - choices.begin());
    }
  }
  return family.first + number;
}

const Space::Family& Space::family_of(const Point& point) const {
  Point categories = point;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (!dimensions_[d].is_category()) {
      categories[d] = -1;
    }
  }
  return families_.at(family_by_categories_.at(categories));
}

Plan Space::plan_at(const Point& point) const {
  Plan plan = plan::resolve(raw_plan(point), request_.cores, "plan");
  plan.name = family_of(point).name;
  return plan;
}

std::string Space::why_not(const Point& point) const {
  const Plan plan = raw_plan(point);
  if (auto message = message_of(plan, request_.cores); !message.empty()) {
    return message;
  }
  std::optional<Plan> resolved;
  for (const auto& constraint : request_.constraints) {
    if (constraint.by_field) {
      continue;  // already excluded from the grid
    }
    if (!resolved) {
      resolved = plan::resolve(plan, request_.cores, "plan");
    }
    if (auto message = constraint.why_not(*resolved); !message.empty()) {
      return message;
    }
  }
  return "";
}

void Space::name_families() {
  for (const auto& preset : plan::presets()) {
    const auto point = preset.devices <= request_.cores.devices ? nearest(preset) : std::nullopt;
    if (point) {
      auto& name = families_[family_by_categories_.at(family_of(*point).categories)].name;
      name = name.empty() ? preset.name : name;
    }
  }
  for (Family& family : families_) {
    if (family.name.empty()) {
      const Plan plan = raw_plan(family.categories);
      family.name = std::string(base::name_of(plan.schedule)) + "-" + std::string(base::name_of(plan.route));
    }
  }
}

}  // namespace gnomon::tuner
