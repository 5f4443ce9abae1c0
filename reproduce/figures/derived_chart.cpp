#include "reproduce/figures/derived_chart.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace gnomon::reproduce {
namespace {

const Chart& chart_titled(const std::vector<Chart>& charts, const std::string& title) {
  const auto found =
      std::find_if(charts.begin(), charts.end(), [&](const Chart& chart) { return chart.title == title; });
  if (found == charts.end()) {
    throw base::InputError("panel \"" + title + "\"", "is not in the figure, or comes later");
  }
  return *found;
}

const ChartSeries& base_of(const PanelSource& panel, const Chart& chart) {
  const ChartSeries* base = chart.find(panel.base);
  if (base == nullptr) {
    throw base::InputError("base \"" + panel.base + "\"", "is not in the chart \"" + chart.title + "\"");
  }
  return *base;
}

std::optional<double> y_at(const ChartSeries& series, double x) {
  const auto at = std::find_if(series.points.begin(), series.points.end(),
                               [&](const ChartPoint& point) { return point.x == x; });
  return at == series.points.end() ? std::nullopt : std::optional(at->y);
}

/// The series that stand for themselves: no printed one beside a predicted one, no levels.
std::vector<const ChartSeries*> series_of(const Chart& chart) {
  std::vector<const ChartSeries*> all;
  for (const auto& series : chart.series) {
    if (!series.level && chart.find(series.name) == &series) {
      all.push_back(&series);
    }
  }
  return all;
}

void add_speed_ups(Chart& chart, const Chart& from) {
  for (const ChartSeries* series : series_of(from)) {
    ChartSeries speed_up{series->name, false, {}};
    for (const auto& point : series->points) {
      speed_up.points.push_back({point.x, series->points.front().y / point.y});
    }
    chart.series.push_back(std::move(speed_up));
  }
}

void add_losses(Chart& chart, const Chart& from, const ChartSeries& base) {
  for (const ChartSeries* series : series_of(from)) {
    ChartSeries lost{series->name, false, {}};
    for (const auto& point : series->points) {
      if (const auto best = y_at(base, point.x); best && series != &base) {
        lost.points.push_back({point.x, *best - point.y});
      }
    }
    if (series != &base) {
      chart.series.push_back(std::move(lost));
    }
  }
}

void add_mean_ratios(Chart& chart, const Chart& from, const ChartSeries& base) {
  auto& ratios = chart.series.emplace_back(ChartSeries{"times " + base.name, false, {}});
  for (const ChartSeries* series : series_of(from)) {
    double sum = 0;
    int count = 0;
    for (const auto& point : series->points) {
      if (const auto other = y_at(base, point.x)) {
        sum += point.y / *other;
        ++count;
      }
    }
    if (series != &base && count > 0) {
      ratios.points.push_back({static_cast<double>(chart.categories.size()), sum / count});
      chart.categories.push_back(series->name);
    }
  }
}

}  // namespace

Chart derived_chart(const PanelSource& panel, const std::vector<Chart>& charts) {
  const Chart& from = chart_titled(charts, panel.from);
  Chart chart;
  chart.missing = from.missing;
  chart.measured_on = from.measured_on;
  if (panel.derived == Derived::mean_ratio) {
    add_mean_ratios(chart, from, base_of(panel, from));
    return chart;
  }
  chart.categories = from.categories;
  if (panel.derived == Derived::speed_up) {
    add_speed_ups(chart, from);
  } else {
    add_losses(chart, from, base_of(panel, from));
  }
  return chart;
}

}  // namespace gnomon::reproduce
