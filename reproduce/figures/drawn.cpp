#include "reproduce/figures/drawn.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/error.h"
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

/// Draws one paper's panels; the report is made when the first panel needs it.
class Drawer {
 public:
  Drawer(sim::Simulator& simulator, std::string_view paper, const base::Progress& progress,
         const profiles::Profile* measured)
      : paper_(find_paper(paper)), simulator_(simulator), progress_(progress), measured_(measured) {}

  const Paper& paper() const { return paper_; }
  bool can_draw(const FigureSource& figure) const {
    return figure.verdict != Verdict::measured || measured_ != nullptr;
  }

  std::vector<Chart> charts(const PanelSource& panel) {
    if (!panel.profiles.empty()) {
      auto charts = explored_charts(panel, progress_);
      std::for_each(charts.begin(), charts.end(), [&](Chart& chart) { add_printed(chart, panel); });
      return charts;
    }
    Chart chart = panel.table.empty() ? draw(panel.draw, {paper_, simulator_, progress_, measured_})
                                      : table_chart(panel, report());
    chart.title = panel.title;
    chart.kind = panel.kind;
    chart.x_label = panel.x_label;
    chart.y_label = panel.y_label;
    add_printed(chart, panel);
    return {std::move(chart)};
  }

 private:
  const Report& report() {
    if (!report_) {
      report_ = reproduce(simulator_, paper_.name, std::nullopt, progress_).front();
    }
    return *report_;
  }

  Paper paper_;
  sim::Simulator& simulator_;
  const base::Progress& progress_;
  const profiles::Profile* measured_;
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

DrawnFigure drawn(const FigureSource& source, Drawer& drawer) {
  DrawnFigure figure;
  figure.id = source.id;
  figure.shows = source.shows;
  figure.verdict = source.verdict;
  figure.why = source.why;
  figure.given = source.given;
  if (!drawer.can_draw(source)) {
    figure.why = "it needs --profile, a profile of your graph that gnomon profile wrote";
    for (auto claim : source.claims) {
      claim.why_not = claim.why_not.empty() ? figure.why : claim.why_not;
      figure.claims.push_back(decide(claim, {}));
    }
    return figure;
  }
  for (const auto& panel : source.panels) {
    auto charts = drawer.charts(panel);
    std::move(charts.begin(), charts.end(), std::back_inserter(figure.charts));
  }
  for (const auto& claim : source.claims) {
    figure.claims.push_back(decide(claim, figure.charts));
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
                        const profiles::Profile* measured) {
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
