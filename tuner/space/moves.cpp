#include <algorithm>
#include <cmath>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tuner/space/space.h"

namespace gnomon::tuner {
namespace {

/// The distance of two numbers on a dimension's scale.
double distance(const Dimension& dimension, double a, double b) {
  return dimension.log_scale ? std::abs(std::log((1 + a) / (1 + b))) : std::abs(a - b);
}

/// The position in `choices` whose value is nearest.
int nearest_choice(const Dimension& dimension, const std::vector<int>& choices, double value) {
  return *std::min_element(choices.begin(), choices.end(), [&](int a, int b) {
    return distance(dimension, dimension.values[static_cast<std::size_t>(a)], value) <
           distance(dimension, dimension.values[static_cast<std::size_t>(b)], value);
  });
}

}  // namespace

std::optional<Point> Space::nearest(const plan::Plan& plan) const {
  const auto values = field_values(plan);
  Point point(dimensions_.size(), -1);
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const Dimension& dimension = dimensions_[d];
    if (dimension.is_category() && is_searched(d, plan)) {
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
    if (dimensions_[d].is_category() && is_searched(d, raw_plan(categories))) {
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

/// For each value of each category the most similar family that has it, other than `family`.
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

/// The values of a dimension in one family, each with the number of plans in the dimensions after it.
std::vector<Space::Choice> Space::choices_in(const Family& family, std::size_t dimension) {
  std::int64_t plans = 1;
  for (std::size_t d = dimension + 1; d < family.choices.size(); ++d) {
    plans *= std::max<std::int64_t>(1, std::ssize(family.choices[d]));
  }
  std::vector<Choice> choices;
  for (const int position : family.choices[dimension]) {
    choices.push_back({position, plans});
  }
  return choices.empty() ? std::vector<Choice>{{-1, plans}} : choices;
}

/// Families are sorted by their categories, so those with the same first categories are adjacent.
std::vector<Space::Choice> Space::choices_after(const Point& point, std::size_t dimension) const {
  if (!dimensions_[dimension].is_category()) {
    return choices_in(family_of(point), dimension);
  }
  const auto end = point.begin() + static_cast<std::ptrdiff_t>(dimension);
  const auto compared = [&](const Family& family) {
    const auto& own = family.categories;
    return std::lexicographical_compare_three_way(
        own.begin(), own.begin() + static_cast<std::ptrdiff_t>(dimension), point.begin(), end);
  };
  const auto first = std::partition_point(families_.begin(), families_.end(),
                                          [&](const Family& family) { return compared(family) < 0; });
  const auto last = std::partition_point(first, families_.end(),
                                         [&](const Family& family) { return compared(family) <= 0; });
  std::vector<Choice> choices;
  for (auto family = first; family != last; ++family) {
    if (choices.empty() || choices.back().position != family->categories[dimension]) {
      choices.push_back({family->categories[dimension], 0});
    }
    choices.back().plans += family->size;
  }
  return choices;
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

}  // namespace gnomon::tuner
