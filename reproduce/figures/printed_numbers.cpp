#include "reproduce/figures/printed_numbers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace gnomon::reproduce {
namespace {

/// The least and the greatest x of all points. Precondition: the chart has points.
std::pair<double, double> ends_of(const Chart& chart) {
  std::vector<double> all;
  for (const auto& series : chart.series) {
    for (const auto& point : series.points) {
      all.push_back(point.x);
    }
  }
  const auto [least, greatest] = std::minmax_element(all.begin(), all.end());
  return {*least, *greatest};
}

void add_level(Chart& chart, const PrintedPoint& point) {
  const auto [begin, end] = ends_of(chart);
  ChartSeries level{point.series, true, {{begin, point.y}}, true};
  if (end > begin) {
    level.points.push_back({end, point.y});
  }
  chart.series.push_back(std::move(level));
}

ChartSeries& printed_series(Chart& chart, const std::string& name) {
  const auto found =
      std::find_if(chart.series.begin(), chart.series.end(), [&](const ChartSeries& candidate) {
        return candidate.printed && !candidate.level && candidate.name == name;
      });
  return found != chart.series.end() ? *found : chart.series.emplace_back(ChartSeries{name, true, {}});
}

double x_of_point(const Chart& chart, const PrintedPoint& point) {
  const auto category = std::find(chart.categories.begin(), chart.categories.end(), point.category);
  if (!point.x && category == chart.categories.end()) {
    throw base::InputError("printed", "\"" + point.category + "\" is not a category of " + chart.title);
  }
  return point.x ? *point.x : static_cast<double>(category - chart.categories.begin());
}

}  // namespace

void add_printed(Chart& chart, const PanelSource& panel, bool in_claim) {
  for (const auto& point : panel.printed) {
    if (point.in_claim != in_claim) {
      continue;
    }
    if (!point.x && point.category.empty()) {
      add_level(chart, point);
    } else {
      const double x = x_of_point(chart, point);
      printed_series(chart, point.series).points.push_back({x, point.y});
    }
  }
}

void add_errors(const Chart& chart, std::vector<double>& errors) {
  for (const auto& printed : chart.series) {
    const ChartSeries* predicted = printed.printed && !printed.level ? chart.find(printed.name) : nullptr;
    if (predicted == nullptr || predicted->printed) {
      continue;
    }
    for (const auto& point : printed.points) {
      const auto at = std::find_if(predicted->points.begin(), predicted->points.end(),
                                   [&](const ChartPoint& other) { return other.x == point.x; });
      if (at != predicted->points.end() && point.y != 0) {
        errors.push_back(std::abs(at->y / point.y - 1));
      }
    }
  }
}

}  // namespace gnomon::reproduce
