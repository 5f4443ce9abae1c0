#include "reproduce/figures/claims.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "base/error.h"

namespace gnomon::reproduce {
namespace {

using base::InputError;
using Curve = std::map<double, double>;

Curve curve_of(const ChartSeries& series) {
  Curve curve;
  for (const auto& point : series.points) {
    curve[point.x] = point.y;
  }
  return curve;
}

double picked(const std::vector<double>& values, Pick pick) {
  switch (pick) {
    case Pick::min:
      return *std::min_element(values.begin(), values.end());
    case Pick::max:
      return *std::max_element(values.begin(), values.end());
    case Pick::first:
      return values.front();
    case Pick::last:
      return values.back();
    case Pick::mean:
      break;
  }
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<double> values_of(const Curve& curve) {
  std::vector<double> values;
  for (const auto& [x, y] : curve) {
    values.push_back(y);
  }
  return values;
}

/// The minimum y of all other series relative to this one's.
Curve lead_of(const Chart& chart, const ChartSeries& series) {
  Curve lead;
  for (const auto& [x, y] : curve_of(series)) {
    std::optional<double> best;
    for (const auto& other : chart.series) {
      const auto others = curve_of(other);
      const auto at = others.find(x);
      if (chart.find(other.name) == &other && other.name != series.name && at != others.end()) {
        best = std::min(best.value_or(at->second), at->second);
      }
    }
    if (best) {
      lead[x] = *best / y;
    }
  }
  return lead;
}

double x_of(const Chart& chart, const std::string& category) {
  const auto found = std::find(chart.categories.begin(), chart.categories.end(), category);
  if (found == chart.categories.end()) {
    throw InputError("category \"" + category + "\"", "is not in the chart \"" + chart.title + "\"");
  }
  return static_cast<double>(found - chart.categories.begin());
}

/// One side of a comparison in one chart: its points or, with x, category or pick, one number at no x.
struct Side {
  Curve curve;
  std::optional<double> number;
  bool is_number = false;
};

Side side_of(const Chart& chart, const SideSource& source) {
  const ChartSeries* series = chart.find(source.series);
  if (series == nullptr) {
    throw InputError("series \"" + source.series + "\"", "is not in the chart \"" + chart.title + "\"");
  }
  Side side{source.lead ? lead_of(chart, *series) : curve_of(*series), std::nullopt, false};
  const auto x = source.category.empty() ? source.x : std::optional(x_of(chart, source.category));
  side.is_number = x || source.pick;
  if (x) {
    constexpr double rounding = 1e-9;  // of values that a sweep adds up
    const auto at = side.curve.lower_bound(*x - rounding);
    const bool found = at != side.curve.end() && at->first <= *x + rounding;
    side.number = found ? std::optional(at->second) : std::nullopt;
  } else if (source.pick && !side.curve.empty()) {
    side.number = picked(values_of(side.curve), *source.pick);
  }
  return side;
}

/// The points of `of` compared with those of `over`: their ratios or differences.
template <class Compare>
std::vector<double> compared(const Side& of, const Side& over, const Compare& compare) {
  if (of.is_number && over.is_number) {
    return of.number && over.number ? std::vector<double>{compare(*of.number, *over.number)}
                                    : std::vector<double>{};
  }
  std::vector<double> all;
  for (const auto& [x, y] : of.is_number ? over.curve : of.curve) {
    const auto at = over.curve.find(x);
    const auto left = of.is_number ? of.number : std::optional(y);
    const auto right =
        over.is_number ? over.number : (at == over.curve.end() ? std::nullopt : std::optional(at->second));
    if (left && right) {
      all.push_back(compare(*left, *right));
    }
  }
  return all;
}

/// The x at which `of` first is below `over`, on straight lines between the points.
std::optional<double> crossing(const Curve& of, const Curve& over) {
  std::optional<std::pair<double, double>> before;
  for (const auto& [x, y] : of) {
    const auto at = over.find(x);
    if (at == over.end()) {
      continue;
    }
    const double difference = y - at->second;
    if (difference < 0) {
      return before ? before->first + (x - before->first) * before->second / (before->second - difference)
                    : x;
    }
    before = {x, difference};
  }
  return std::nullopt;
}

std::optional<double> least_at(const Curve& curve) {
  const auto least = std::min_element(curve.begin(), curve.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  return least == curve.end() ? std::nullopt : std::optional(least->first);
}

/// The numbers of one chart.
std::vector<double> numbers_of(const ClaimSource& source, const Chart& chart) {
  if (source.quantity == Quantity::points) {
    const ChartSeries* series = chart.find(source.of->series);
    return {series == nullptr ? 0 : static_cast<double>(series->points.size())};
  }
  const Side of = side_of(chart, *source.of);
  std::optional<double> x;
  if (source.quantity == Quantity::least_at) {
    x = least_at(of.curve);
  } else if (source.quantity == Quantity::crossing) {
    x = crossing(of.curve, side_of(chart, source.over.value()).curve);
  } else if (source.quantity == Quantity::difference) {
    return compared(of, side_of(chart, source.over.value()), std::minus<>());
  } else {
    return compared(of, source.over ? side_of(chart, *source.over) : Side{{}, 1.0, true}, std::divides<>());
  }
  return x ? std::vector{*x} : std::vector<double>{};
}

std::optional<bool> direction_of(const ClaimSource& source, double value) {
  if (!source.above && !source.below) {
    return std::nullopt;
  }
  return (!source.above || value > *source.above) && (!source.below || value < *source.below);
}

/// The error against the printed number, or the nearer end of a range; none if that is 0.
std::optional<double> error_of(const ClaimSource& source, double value) {
  if (!source.printed) {
    return std::nullopt;
  }
  const double nearest = std::clamp(value, *source.printed, source.printed_to.value_or(*source.printed));
  return nearest == 0 ? std::nullopt : std::optional(value / nearest - 1);
}

std::vector<const Chart*> charts_of(const ClaimSource& source, const std::vector<Chart>& charts) {
  std::vector<const Chart*> wanted;
  for (const auto& title : source.panels) {
    const auto found =
        std::find_if(charts.begin(), charts.end(), [&](const Chart& chart) { return chart.title == title; });
    if (found == charts.end()) {
      throw InputError("panel \"" + title + "\"", "is not in the figure");
    }
    wanted.push_back(&*found);
  }
  if (source.panels.empty()) {
    for (const auto& chart : charts) {
      wanted.push_back(&chart);
    }
  }
  return wanted;
}

/// Why there is no number: the reason given for the first missing point.
std::string no_point(const std::vector<const Chart*>& charts) {
  for (const Chart* chart : charts) {
    if (!chart->missing.empty()) {
      return "there is no such point: " + chart->missing.front();
    }
  }
  return "there is no such point";
}

}  // namespace

Claim decide(const ClaimSource& source, const std::vector<Chart>& charts) {
  Claim claim;
  claim.text = source.text;
  claim.where = source.where;
  claim.unit = source.unit;
  claim.panels = source.panels;
  claim.printed = source.printed;
  claim.printed_to = source.printed_to;
  claim.limit = source.limit;
  claim.above = source.above;
  claim.below = source.below;
  claim.why_not = source.why_not;
  if (!source.why_not.empty()) {
    return claim;
  }
  std::vector<double> numbers;
  const auto used = charts_of(source, charts);
  for (const Chart* chart : used) {
    const auto more = numbers_of(source, *chart);
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  if (numbers.empty()) {
    // "The lines do not cross" and "never runs" are valid answers.
    claim.why_not = source.quantity == Quantity::crossing ? "the lines do not cross" : no_point(used);
    claim.direction = source.quantity == Quantity::crossing ? std::optional(false) : std::nullopt;
    return claim;
  }
  claim.value = picked(numbers, source.pick);
  claim.direction = direction_of(source, *claim.value);
  claim.error = error_of(source, *claim.value);
  if (claim.error && !source.limit) {
    claim.size = std::abs(*claim.error) <= size_tolerance;
  }
  return claim;
}

}  // namespace gnomon::reproduce
