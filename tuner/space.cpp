#include "tuner/space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "tuner/relevance.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;

/// How many points are looked at to tell whether a space holds any feasible plan.
constexpr std::int64_t most_looked_at = 200'000;

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

double value_of(const Field& field, const std::string& text) {
  if (field.kind == FieldKind::category) {
    const auto found = std::find(field.names.begin(), field.names.end(), text);
    if (found == field.names.end()) {
      std::string known;
      for (const auto& name : field.names) {
        known += (known.empty() ? "" : ", ") + name;
      }
      throw base::InputError("plan." + field.path, in_quotes(text) + " is not known; use one of " + known);
    }
    return static_cast<double>(found - field.names.begin());
  }
  double value = 0;
  const base::Json json = base::parse_json(text, "plan." + field.path);
  base::read_value(json, value, "plan." + field.path, field.range);
  return value;
}

/// How near a number is to another on a dimension's scale.
double distance(const Dimension& dimension, double a, double b) {
  return dimension.log_scale ? std::abs(std::log((1 + a) / (1 + b))) : std::abs(a - b);
}

/// Of the positions in `choices` the one whose value is nearest.
int nearest_choice(const Dimension& dimension, const std::vector<int>& choices, double value) {
  return *std::min_element(choices.begin(), choices.end(), [&](int a, int b) {
    return distance(dimension, dimension.values[static_cast<std::size_t>(a)], value) <
           distance(dimension, dimension.values[static_cast<std::size_t>(b)], value);
  });
}

std::string message_of(const Plan& plan, const plan::Cores& cores) {
  try {
    plan::resolve(plan, cores, "plan");
    return "";
  } catch (const base::InputError& error) {
    return error.what();
  }
}

/// What a space is asked to hold, one by one, so that any part can be left out.
struct Parts {
  std::vector<std::string> names;
  std::vector<bool> kept;
};

Parts parts_of(const SpaceRequest& request) {
  Parts parts;
  for (const auto& constraint : request.constraints) {
    parts.names.push_back(constraint.name);
  }
  for (const auto& [path, texts] : request.values) {
    std::string name = path + " = ";
    for (const auto& text : texts) {
      name += (&text == &texts.front() ? "" : " or ") + text;
    }
    parts.names.push_back(name);
  }
  parts.kept.assign(parts.names.size(), true);
  return parts;
}

SpaceRequest request_of(const SpaceRequest& whole, const std::vector<bool>& kept) {
  SpaceRequest request{whole.cores, whole.batches, {}, {}};
  std::size_t part = 0;
  for (const auto& constraint : whole.constraints) {
    if (kept[part++]) {
      request.constraints.push_back(constraint);
    }
  }
  for (const auto& value : whole.values) {
    if (kept[part++]) {
      request.values.insert(value);
    }
  }
  return request;
}

bool holds_plans(const SpaceRequest& request) {
  try {
    const Space space(request);
    return true;
  } catch (const NoPlans&) {
    return false;
  }
}

/// The names of as few parts as exclude each other: each one alone could be left out, but then there are
/// plans.
std::string conflict_of(const SpaceRequest& request) {
  Parts parts = parts_of(request);
  for (std::size_t part = 0; part < parts.kept.size(); ++part) {
    parts.kept[part] = false;
    if (holds_plans(request_of(request, parts.kept))) {
      parts.kept[part] = true;
    }
  }
  std::vector<std::string> names;
  for (std::size_t part = 0; part < parts.kept.size(); ++part) {
    if (parts.kept[part]) {
      names.push_back(in_quotes(parts.names[part]));
    }
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  }
  return text + (names.size() > 1 ? " exclude each other" : " excludes every plan");
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

Space make_space(const SpaceRequest& request) {
  try {
    return Space(request);
  } catch (const NoPlans&) {
    throw base::InputError("no plan is left", conflict_of(request));
  }
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

std::optional<Point> Space::nearest(const Plan& plan) const {
  const auto values = field_values(plan);
  Point point(dimensions_.size(), -1);
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const Dimension& dimension = dimensions_[d];
    if (dimension.is_category() && matters(dimension.field.path, plan, request_.cores)) {
      const auto found =
          std::find(dimension.values.begin(), dimension.values.end(), values[dimension.position]);
      if (found == dimension.values.end()) {
        return std::nullopt;
      }
      point[d] = static_cast<int>(found - dimension.values.begin());
    }
  }
  const auto found = family_by_categories_.find(point);
  if (found == family_by_categories_.end()) {
    return std::nullopt;
  }
  const Family& family = families_[found->second];
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (!family.choices[d].empty()) {
      point[d] = nearest_choice(dimensions_[d], family.choices[d], values[dimensions_[d].position]);
    }
  }
  return point;
}

std::optional<Point> Space::normalised(const Point& point) const {
  Point categories(dimensions_.size(), -1);
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (dimensions_[d].is_category() &&
        matters(dimensions_[d].field.path, raw_plan(categories), request_.cores)) {
      categories[d] = point[d];
    }
  }
  const auto found = family_by_categories_.find(categories);
  if (found == family_by_categories_.end()) {
    return std::nullopt;
  }
  return into_family(families_[found->second], point);
}

Point Space::into_family(const Family& family, const Point& point) const {
  Point moved = family.categories;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (!family.choices[d].empty()) {
      const double value = point[d] < 0 ? defaults_[dimensions_[d].position]
                                        : dimensions_[d].values[static_cast<std::size_t>(point[d])];
      moved[d] = nearest_choice(dimensions_[d], family.choices[d], value);
    }
  }
  return moved;
}

/// For each value of each category the most similar other family that has it.
std::vector<const Space::Family*> Space::families_beside(const Family& family) const {
  std::map<std::pair<std::size_t, int>, std::pair<int, const Family*>> nearest;
  for (const Family& other : families_) {
    int differences = 0;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      differences += other.categories[d] != family.categories[d];
    }
    for (std::size_t d = 0; d < dimensions_.size() && differences > 0; ++d) {
      if (other.categories[d] != family.categories[d]) {
        const auto [known, is_new] =
            nearest.try_emplace({d, other.categories[d]}, std::pair(differences, &other));
        if (!is_new && differences < known->second.first) {
          known->second = {differences, &other};
        }
      }
    }
  }
  std::set<std::int64_t> seen;
  std::vector<const Family*> families;
  for (const auto& [change, found] : nearest) {
    if (seen.insert(found.second->first).second) {
      families.push_back(found.second);
    }
  }
  return families;
}

std::vector<Point> Space::neighbours(const Point& point) const {
  const Family& family = family_of(point);
  std::vector<Point> around;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const auto& choices = family.choices[d];
    const auto here = std::lower_bound(choices.begin(), choices.end(), point[d]) - choices.begin();
    for (const auto step : {here - 1, here + 1}) {
      if (step >= 0 && step < std::ssize(choices)) {
        around.push_back(point);
        around.back()[d] = choices[static_cast<std::size_t>(step)];
      }
    }
  }
  for (const Family* other : families_beside(family)) {
    around.push_back(into_family(*other, point));
  }
  return around;
}

std::vector<Point> Space::along(const Point& point, std::size_t dimension) const {
  std::vector<Point> points;
  for (const int choice : family_of(point).choices.at(dimension)) {
    points.push_back(point);
    points.back()[dimension] = choice;
  }
  return points.empty() ? std::vector<Point>{point} : points;
}

bool Space::varies(std::size_t dimension) const {
  const auto& first = families_.front();
  return std::any_of(families_.begin(), families_.end(), [&](const Family& family) {
    return family.choices[dimension].size() > 1 ||
           family.categories[dimension] != first.categories[dimension];
  });
}

std::vector<Point> Space::family_starts() const {
  std::vector<Point> points;
  for (const Family& family : families_) {
    points.push_back(at(family.first));
  }
  return points;
}

int Space::coordinates() const {
  std::ptrdiff_t most = 0;
  for (const Family& family : families_) {
    most = std::max(most, std::count_if(family.choices.begin(), family.choices.end(),
                                        [](const auto& choices) { return choices.size() > 1; }));
  }
  return static_cast<int>(most) + 1;
}

Point Space::at_coordinates(const std::vector<double>& coordinates) const {
  const auto pick = [](double coordinate, std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(coordinate * static_cast<double>(count)));
  };
  const Family& family = families_[pick(coordinates.at(0), families_.size())];
  Point point = family.categories;
  std::size_t next = 1;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (const auto& choices = family.choices[d]; !choices.empty()) {
      point[d] = choices.size() == 1 ? choices.front() : choices[pick(coordinates.at(next), choices.size())];
      next += choices.size() > 1;
    }
  }
  return point;
}

std::vector<double> Space::encode(const Point& point) const {
  std::vector<double> code(point.begin(), point.end());
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const Dimension& dimension = dimensions_[d];
    if (dimension.is_category() || point[d] < 0) {
      continue;
    }
    const double least = dimension.values.front();
    const double most = dimension.values.back();
    const double value = dimension.values[static_cast<std::size_t>(point[d])];
    const auto scaled = [&](double number) { return dimension.log_scale ? std::log1p(number) : number; };
    code[d] = most > least ? (scaled(value) - scaled(least)) / (scaled(most) - scaled(least)) : 0;
  }
  return code;
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
