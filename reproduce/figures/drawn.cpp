#include "reproduce/figures/drawn.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "base/error.h"
#include "plan/plan.h"
#include "reproduce/figures/counts_chart.h"
#include "reproduce/figures/drawings.h"
#include "reproduce/figures/explored_chart.h"
#include "reproduce/reproduce.h"

namespace gnomon::reproduce {
namespace {

/// The rows of a table of the report, printed beside predicted.
Chart table_chart(const PanelSource& panel, const Report& report) {
  Chart chart;
  ChartSeries predicted{std::string(table_series), false, {}};
  ChartSeries printed{std::string(table_series), true, {}};
  for (const Row& row : report.rows) {
    if (row.table != panel.table || row.cell.find(panel.only) == std::string::npos) {
      continue;
    }
    const auto x = static_cast<double>(chart.categories.size());
    chart.categories.push_back(row.machine + " " + row.cell);
    predicted.points.push_back({x, row.predicted});
    if (row.printed) {
      printed.points.push_back({x, *row.printed});
    }
  }
  if (chart.categories.empty()) {
    throw base::InputError("table \"" + panel.table + "\"", "has no rows in the report of " + report.paper);
  }
  chart.series = {predicted, printed};
  return chart;
}

void add_printed(Chart& chart, const PanelSource& panel) {
  for (const auto& point : panel.printed) {
    const auto series = std::find_if(
        chart.series.begin(), chart.series.end(),
        [&](const ChartSeries& candidate) { return candidate.printed && candidate.name == point.series; });
    auto& found = series != chart.series.end()
                      ? *series
                      : chart.series.emplace_back(ChartSeries{point.series, true, {}});
    const auto category = std::find(chart.categories.begin(), chart.categories.end(), point.category);
    if (!point.x && category == chart.categories.end()) {
      throw base::InputError("printed", "\"" + point.category + "\" is not a category of " + chart.title);
    }
    found.points.push_back(
        {point.x ? *point.x : static_cast<double>(category - chart.categories.begin()), point.y});
  }
}

/// Why a panel's plans cannot be trained here: the first refusal of an approximate plan, if none of them runs
/// on the host; empty otherwise.
std::string why_not_trained(const PanelSource& panel) {
  std::string why;
  for (const auto& series : panel.series) {
    const auto plan = plan::find_plan(series.plan);
    if (plan.exact) {
      continue;
    }
    const auto refusal = plan::refusal_of(plan, plan::abilities_of(plan::DeviceKind::host));
    if (refusal.empty()) {
      return "";
    }
    why = why.empty() ? plan.name + ": " + refusal : why;
  }
  return why;
}

/// Draws one paper's panels; the report is made when the first panel needs it.
class Drawer {
 public:
  Drawer(sim::Simulator& simulator, std::string_view paper, const base::Progress& progress,
         const Measured& measured)
      : paper_(find_paper(paper)), simulator_(simulator), progress_(progress), measured_(measured) {}

  const Paper& paper() const { return paper_; }

  /// Why a panel is left out; empty if it is drawn.
  std::string why_not(const PanelSource& panel) const {
    if (panel.measure.empty()) {
      return "";
    }
    if (auto refusal = why_not_trained(panel); !refusal.empty()) {
      return refusal;
    }
    if (measured_.measure || is_in_profile(panel)) {
      return "";
    }
    return measured_.profile != nullptr ? "a profile does not hold it; measure it with --measure"
                                        : "it is measured: --measure";
  }

  std::vector<Chart> charts(const FigureSource& figure, const PanelSource& panel) {
    if (!panel.profiles.empty()) {
      auto charts = explored_charts(panel, progress_);
      std::for_each(charts.begin(), charts.end(), [&](Chart& chart) { add_printed(chart, panel); });
      return charts;
    }
    Chart chart = chart_of(figure, panel);
    chart.title = panel.title;
    chart.kind = panel.kind;
    chart.x_label = panel.x_label;
    chart.y_label = panel.y_label;
    add_printed(chart, panel);
    return {std::move(chart)};
  }

 private:
  bool is_in_profile(const PanelSource& panel) const {
    return measured_.profile != nullptr &&
           counts_chart(panel.measure, measured_.profile->workload).has_value();
  }

  Chart chart_of(const FigureSource& figure, const PanelSource& panel) {
    if (!panel.table.empty()) {
      return table_chart(panel, report());
    }
    if (panel.measure.empty()) {
      return draw(panel.draw, {paper_, simulator_, progress_});
    }
    return measured_.measure ? measured_.measure(panel, figure.measured_on.value())
                             : counts_chart(panel.measure, measured_.profile->workload).value();
  }

  const Report& report() {
    if (!report_) {
      report_ = reproduce(simulator_, paper_.name, std::nullopt, progress_).front();
    }
    return *report_;
  }

  Paper paper_;
  sim::Simulator& simulator_;
  const base::Progress& progress_;
  const Measured& measured_;
  std::optional<Report> report_;
};

/// Errors of a chart's predicted points beside the printed ones of the same series and x.
void add_errors(const Chart& chart, std::vector<double>& errors) {
  for (const auto& printed : chart.series) {
    const ChartSeries* predicted = printed.printed ? chart.find(printed.name) : nullptr;
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

void fill_errors(DrawnFigure& figure) {
  std::vector<double> errors;
  for (const auto& chart : figure.charts) {
    add_errors(chart, errors);
  }
  for (const auto& claim : figure.claims) {
    if (claim.error) {
      errors.push_back(std::abs(*claim.error));
    }
  }
  figure.printed_numbers = std::ssize(errors);
  if (!errors.empty()) {
    double sum = 0;
    for (const double error : errors) {
      sum += error;
    }
    figure.mean_error = sum / static_cast<double>(errors.size());
  }
}

/// A claim whose panels are not all drawn says why.
Claim decided(ClaimSource claim, const std::vector<Chart>& charts,
              const std::map<std::string, std::string>& left_out) {
  for (const auto& [title, why] : left_out) {
    const bool needs = claim.panels.empty() ||
                       std::find(claim.panels.begin(), claim.panels.end(), title) != claim.panels.end();
    if (needs && claim.why_not.empty()) {
      claim.why_not = why;
    }
  }
  return decide(claim, charts);
}

DrawnFigure drawn(const FigureSource& source, Drawer& drawer) {
  DrawnFigure figure;
  figure.id = source.id;
  figure.shows = source.shows;
  figure.verdict = source.verdict;
  figure.why = source.why;
  figure.given = source.given;
  std::map<std::string, std::string> left_out;  // panels by title, and why
  for (const auto& panel : source.panels) {
    if (auto why = drawer.why_not(panel); !why.empty()) {
      figure.not_measured = why;
      left_out.emplace(panel.title, std::move(why));
      continue;
    }
    auto charts = drawer.charts(source, panel);
    std::move(charts.begin(), charts.end(), std::back_inserter(figure.charts));
  }
  for (const auto& claim : source.claims) {
    figure.claims.push_back(decided(claim, figure.charts, left_out));
  }
  fill_errors(figure);
  return figure;
}

std::vector<const FigureSource*> chosen(const FiguresDocument& document,
                                        const std::vector<std::string>& ids) {
  const bool all = std::find(ids.begin(), ids.end(), "all") != ids.end();
  for (const auto& id : ids) {
    if (id != "all") {
      document.figure(id);
    }
  }
  std::vector<const FigureSource*> figures;
  for (const auto& figure : document.figures) {
    if (all || std::find(ids.begin(), ids.end(), figure.id) != ids.end()) {
      figures.push_back(&figure);
    }
  }
  return figures;
}

}  // namespace

std::string DrawnFigure::verdict_on_claims() const {
  std::int64_t computed = 0;
  std::int64_t held = 0;
  std::string failed;
  for (const auto& claim : claims) {
    if (claim.holds) {
      ++computed;
      held += *claim.holds ? 1 : 0;
      failed += *claim.holds ? "" : (failed.empty() ? "" : "; ") + claim.text;
    }
  }
  if (computed == 0) {
    return claims.empty() ? "" : "None of its claims can be computed here.";
  }
  const auto counted = std::to_string(held) + " of " + std::to_string(computed);
  if (failed.empty()) {
    return computed == 1 ? "Its claim holds here." : "All " + std::to_string(computed) + " claims hold here.";
  }
  return counted + (held == 1 ? " claims holds here" : " claims hold here") + "; not so: " + failed + ".";
}

DrawnPaper draw_figures(sim::Simulator& simulator, std::string_view paper,
                        const std::vector<std::string>& ids, const base::Progress& progress,
                        const Measured& measured) {
  const auto document = find_figures(paper);
  const auto figures = chosen(document, ids);
  Drawer drawer(simulator, paper, progress, measured);
  DrawnPaper all{drawer.paper().name, drawer.paper().source, {}};
  for (const FigureSource* figure : figures) {
    base::report(progress, "drawing " + figure->id, std::ssize(all.figures), std::ssize(figures));
    all.figures.push_back(drawn(*figure, drawer));
  }
  return all;
}

}  // namespace gnomon::reproduce
