#include "reproduce/figures/explored_chart.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/error.h"
#include "reproduce/explored_profile.h"
#include "schedule/lane.h"
#include "schedule/timeline.h"
#include "tuner/explore/exploration.h"

namespace gnomon::reproduce {
namespace {

using base::InputError;
using base::Json;
using tuner::ExplorationRow;

constexpr std::string_view stage_prefix = "stage.";
constexpr std::string_view memory_prefix = "memory.";
constexpr int time_bins = 60;           ///< of an epoch, where use is shown over time
constexpr std::size_t max_spans = 120;  ///< of a timeline

std::string last_part(const std::string& name) { return name.substr(name.find_last_of('/') + 1); }

std::string path_of_x(const PanelSource& panel) {
  return panel.x.empty() ? "profile" : tuner::parse_sweep(panel.x).path;
}

bool needs_timelines(const PanelSource& panel) {
  return panel.view != View::values || panel.y.starts_with(stage_prefix);
}

std::vector<ExplorationRow> rows_of(const PanelSource& panel, const SeriesSource& series,
                                    const base::Progress& progress) {
  tuner::ExplorationRequest request;
  for (const auto& profile : panel.profiles) {
    request.profiles.push_back(explored_profile(profile, panel.machine, {{"profile", last_part(profile)}}));
  }
  request.plans = tuner::plans_of(series.plan);
  for (const auto* sets : {&panel.set, &series.set}) {
    std::transform(sets->begin(), sets->end(), std::back_inserter(request.sweeps), tuner::parse_sweep);
  }
  if (!panel.x.empty() && !series.flat) {
    request.sweeps.push_back(tuner::parse_sweep(panel.x));
  }
  request.with_timeline = needs_timelines(panel);
  return tuner::explore(request, progress);
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

/// The x axis: the numbers of a sweep, or names.
struct Axis {
  std::vector<std::string> texts;
  bool numbers = true;
  double scale = 1;

  double x_of(const std::string& text) const {
    const auto at = std::find(texts.begin(), texts.end(), text) - texts.begin();
    return numbers ? scale * number_in(text).value() : static_cast<double>(at);
  }
};

Axis axis_of(const PanelSource& panel) {
  Axis axis;
  if (panel.x.empty()) {
    std::transform(panel.profiles.begin(), panel.profiles.end(), std::back_inserter(axis.texts), last_part);
    axis.numbers = false;
    return axis;
  }
  axis.texts = tuner::parse_sweep(panel.x).values;
  axis.scale = panel.x_scale;
  axis.numbers = std::all_of(axis.texts.begin(), axis.texts.end(),
                             [](const std::string& text) { return number_in(text).has_value(); });
  return axis;
}

double total_s(const std::vector<schedule::StageSpan>& spans, std::string_view stage) {
  double total = 0;
  for (const auto& span : spans) {
    total += schedule::name_of(span.stage) == stage ? span.end_s - span.begin_s : 0;
  }
  return total;
}

double column_of(const Json& row, const std::string& column) {
  const auto found = row.find(column);
  if (found == row.end() || !found->is_number()) {
    throw InputError("column \"" + column + "\"", "is not a number of gnomon explore");
  }
  return found->get<double>();
}

/// Precondition: the row has a prediction.
double value_of(const ExplorationRow& row, const std::string& what) {
  if (what.starts_with(stage_prefix)) {
    return total_s(row.prediction->timeline, what.substr(stage_prefix.size()));
  }
  if (what.starts_with(memory_prefix)) {
    Json memory = base::write_value(row.prediction->memory);
    return tuner::field_at(memory, what.substr(memory_prefix.size()), what).get<double>();
  }
  const Json flat = tuner::flat_row(row);
  double product = 1;
  std::size_t begin = 0;
  while (begin <= what.size()) {
    const auto end = std::min(what.find('*', begin), what.size());
    product *= column_of(flat, what.substr(begin, end - begin));
    begin = end + 1;
  }
  return product;
}

std::string setting_of(const ExplorationRow& row, const std::string& path) {
  const auto found = std::find_if(row.settings.begin(), row.settings.end(),
                                  [&](const tuner::Setting& setting) { return setting.path == path; });
  return found == row.settings.end() ? "" : found->value;
}

/// The minimum y at each x, over all other swept fields.
void add_values(Chart& chart, const PanelSource& panel, const SeriesSource& source, const Axis& axis,
                const std::vector<ExplorationRow>& rows) {
  std::map<double, double> least;
  std::map<std::string, std::string> impossible;
  const auto add = [&](const std::string& text, const ExplorationRow& row) {
    if (!row.prediction) {
      impossible[text] = row.why_not;
      return;
    }
    const double y = panel.scale * value_of(row, source.y.empty() ? panel.y : source.y);
    const auto [at, added] = least.try_emplace(axis.x_of(text), y);
    at->second = std::min(at->second, y);
  };
  for (const auto& row : rows) {
    if (source.flat) {
      for (const auto& text : axis.texts) {
        add(text, row);
      }
    } else {
      add(setting_of(row, path_of_x(panel)), row);
    }
  }
  ChartSeries series{source.name, false, {}};
  for (const auto& [x, y] : least) {
    series.points.push_back({x, y});
  }
  for (const auto& [text, why] : impossible) {
    if (!least.contains(axis.x_of(text))) {
      chart.missing.push_back(source.name + ", " + text + ": " + why);
    }
  }
  chart.series.push_back(std::move(series));
}

/// All rows as pairs of columns, by x.
void add_pairs(Chart& chart, const PanelSource& panel, const SeriesSource& source,
               const std::vector<ExplorationRow>& rows) {
  ChartSeries series{source.name, false, {}};
  for (const auto& row : rows) {
    if (row.prediction) {
      series.points.push_back(
          {panel.x_scale * value_of(row, panel.x_column), panel.scale * value_of(row, panel.y)});
    }
  }
  std::sort(series.points.begin(), series.points.end(),
            [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
  chart.series.push_back(std::move(series));
}

/// The utilisation of a resource's engines in each part of the epoch.
double use_of(const std::string& resource, const ExplorationRow& row, double begin_s, double end_s) {
  using schedule::Stage;
  const auto& spans = row.prediction->timeline;
  if (resource == "cpu") {
    return schedule::utilisation(spans, {Stage::cpu_batch, Stage::group_prepare}, begin_s, end_s,
                                 std::max(1, row.plan.workers));
  }
  if (resource == "device") {
    return schedule::utilisation(spans, {Stage::device_batch, Stage::device_gather, Stage::train}, begin_s,
                                 end_s, 1);
  }
  if (resource == "link") {
    return schedule::utilisation(spans, {Stage::transfer, Stage::group_transfer}, begin_s, end_s, 1);
  }
  if (resource == "disk") {
    return schedule::utilisation(spans, {Stage::group_read}, begin_s, end_s, 1);
  }
  throw InputError("resource \"" + resource + "\"", "is not known; use cpu, device, link or disk");
}

void add_use(Chart& chart, const PanelSource& panel, const SeriesSource& source,
             const std::vector<ExplorationRow>& rows) {
  ChartSeries series{source.name, false, {}};
  const auto& row = rows.front();
  const double bin_s = row.prediction->epoch_s / time_bins;
  for (int i = 0; i < time_bins; ++i) {
    series.points.push_back(
        {(i + 0.5) * bin_s, panel.scale * use_of(panel.y, row, i * bin_s, (i + 1) * bin_s)});
  }
  chart.series.push_back(std::move(series));
}

Chart timeline_of(const PanelSource& panel, const SeriesSource& source,
                  const std::vector<ExplorationRow>& rows) {
  Chart chart{panel.title.empty() ? source.name : panel.title + ": " + source.name,
              ChartKind::timeline,
              panel.x_label,
              panel.y_label,
              {},
              {},
              {},
              {}};
  auto spans = rows.front().prediction->timeline;
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.begin_s < b.begin_s; });
  spans.resize(std::min(spans.size(), max_spans));
  for (const auto& span : spans) {
    chart.spans.push_back({schedule::lane_of(span), std::string(schedule::name_of(span.stage)), span.batch,
                           span.begin_s, span.end_s});
  }
  return chart;
}

void add_series(Chart& chart, const PanelSource& panel, const SeriesSource& source, const Axis& axis,
                const std::vector<ExplorationRow>& rows) {
  if (panel.view == View::use_over_time) {
    add_use(chart, panel, source, rows);
  } else if (!panel.x_column.empty()) {
    add_pairs(chart, panel, source, rows);
  } else {
    add_values(chart, panel, source, axis, rows);
  }
}

}  // namespace

std::vector<Chart> explored_charts(const PanelSource& panel, const base::Progress& progress) {
  std::vector<Chart> timelines;
  const Axis axis = axis_of(panel);
  const bool has_categories = !axis.numbers && panel.view == View::values && panel.x_column.empty();
  Chart chart{panel.title,
              panel.kind,
              panel.x_label,
              panel.y_label,
              has_categories ? axis.texts : std::vector<std::string>{},
              {},
              {},
              {}};
  for (const auto& source : panel.series) {
    std::vector<ExplorationRow> rows;
    try {
      rows = rows_of(panel, source, progress);
    } catch (const InputError& error) {
      chart.missing.push_back(source.name + ": " + error.what());
      chart.series.push_back({source.name, false, {}});
      continue;
    }
    if (panel.view == View::timeline) {
      timelines.push_back(timeline_of(panel, source, rows));
    } else {
      add_series(chart, panel, source, axis, rows);
    }
  }
  const bool empty = std::all_of(chart.series.begin(), chart.series.end(),
                                 [](const ChartSeries& series) { return series.points.empty(); });
  if (empty && timelines.empty()) {
    throw InputError(chart.missing.front());
  }
  return panel.view == View::timeline ? timelines : std::vector{chart};
}

}  // namespace gnomon::reproduce
