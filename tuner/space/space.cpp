#include "tuner/space/space.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "tuner/space/relevance.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;

/// How many points are looked at to tell whether a space holds any feasible plan.
constexpr std::int64_t most_looked_at = 200'000;

double value_of(const Field& field, const std::string& text) {
  if (field.kind == FieldKind::category) {
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

std::string message_of(const Plan& plan, const plan::Cores& cores) {
  try {
    plan::resolve(plan, cores, "plan");
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

}  // namespace

std::vector<int> worker_choices(int cores) {
  std::vector<int> workers;
  for (int count = 1; count < cores; count += std::max(1, count / 8)) {
    workers.push_back(count);
  }
  workers.push_back(cores);
  return workers;
}

std::vector<int> thread_choices(const plan::Cores& cores) {
  std::vector<int> threads;
  for (int count = 1; cores.host_device && count < cores.count; count *= 2) {
    threads.push_back(count);
  }
  threads.push_back(cores.host_device ? cores.count : 1);
  return threads;
}

Space::Space(SpaceRequest request) : request_(std::move(request)), defaults_(field_values(Plan{})) {
  make_dimensions();
  Point point(dimensions_.size(), -1);
  make_families(0, point);
  if (!has_plans()) {
    throw NoPlans();
  }
  name_families();
}

/// Categories come first, those first that decide whether others matter.
void Space::make_dimensions() {
  const auto fields = plan_fields();
  auto asked = request_.values;
  for (std::size_t position = 0; position < fields.size(); ++position) {
    Dimension dimension{fields[position], position, {}, false};
    if (const auto values = asked.find(dimension.field.path); values != asked.end()) {
      for (const auto& text : values->second) {
        dimension.values.push_back(value_of(dimension.field, text));
      }
      std::sort(dimension.values.begin(), dimension.values.end());
      asked.erase(values);
    } else {
      dimension.values = usual_values(dimension.field, request_.cores, request_.batches);
    }
    dimension.log_scale =
        !dimension.is_category() && dimension.values.back() > 10 * std::max(0.1, dimension.values.front());
    dimensions_.push_back(std::move(dimension));
  }
  if (!asked.empty()) {
    throw base::InputError("plan." + asked.begin()->first, "is not a field that can be searched");
  }
  const auto deciding = deciding_categories();
  const auto rank = [&](const Dimension& dimension) {
    const auto found = std::find(deciding.begin(), deciding.end(), dimension.field.path);
    return std::pair(!dimension.is_category(), found - deciding.begin());
  };
  std::stable_sort(dimensions_.begin(), dimensions_.end(),
                   [&](const Dimension& a, const Dimension& b) { return rank(a) < rank(b); });
}

void Space::make_families(std::size_t next, Point& point) {
  if (next == deciding_categories().size()) {
    // What follows seldom makes a plan contradict itself; what is decided until here often does.
    Plan plan = raw_plan(point);
    plan.prepare_share = matters("prepare_share", plan, request_.cores) ? 0.5 : 0;
    if (!message_of(plan, request_.cores).empty()) {
      return;
    }
  }
  if (next == dimensions_.size() || !dimensions_[next].is_category()) {
    add_family(point);
    return;
  }
  const Dimension& dimension = dimensions_[next];
  if (!matters(dimension.field.path, raw_plan(point), request_.cores)) {
    make_families(next + 1, point);
    return;
  }
  for (int choice = 0; choice < std::ssize(dimension.values); ++choice) {
    point[next] = choice;
    if (passes_by_field(point)) {
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
  if (plan.cache.policy != plan::CachePolicy::none && !plan.cache.is_used()) {
    return;  // a cache of nothing is none
  }
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (dimensions_[d].is_category() || !matters(dimensions_[d].field.path, plan, request_.cores)) {
      continue;
    }
    auto choices = choices_of(point, d);
    if (dimensions_[d].field.path == "prepare_share") {
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

/// Looks at points spread over the space; most have something feasible among the very first.
bool Space::has_plans() const {
  const std::int64_t step = std::max<std::int64_t>(1, size_ / most_looked_at);
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
  set_field_values(plan, values);
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
      continue;  // the grid holds none that it leaves out
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
