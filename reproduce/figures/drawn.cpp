#include "reproduce/figures/drawn.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "plan/plan.h"
#include "reproduce/figures/counts_chart.h"
#include "reproduce/figures/derived_chart.h"
#include "reproduce/figures/drawings.h"
#include "reproduce/figures/explored_chart.h"
#include "reproduce/figures/printed_numbers.h"
#include "reproduce/reproduce.h"

namespace gnomon::reproduce {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// A metric of the papers' documents in words; other words as they are.
std::string named_metric(const std::string& word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> metrics{
      {{"cpu_util_pct", "CPU"}, {"pcie_util_pct", "PCIe"}, {"gpu_util_pct", "GPU"}}};
  const auto* const found =
      std::find_if(metrics.begin(), metrics.end(), [&](const auto& metric) { return metric.first == word; });
  return found == metrics.end() ? word : std::string(found->second);
}

/// Removes the words that all names begin with, and those that all end with; each name keeps one.
void strip_common_words(std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> all;
  std::transform(names.begin(), names.end(), std::back_inserter(all), words_of);
  const auto strip = [&](const auto& word, const auto& erase) {
    while (std::all_of(all.begin(), all.end(), [&](const auto& words) {
      return words.size() > 1 && word(words) == word(all.front());
    })) {
      std::for_each(all.begin(), all.end(), erase);
    }
  };
  if (names.size() > 1) {
    strip([](const auto& words) { return words.front(); }, [](auto& words) { words.erase(words.begin()); });
    strip([](const auto& words) { return words.back(); }, [](auto& words) { words.pop_back(); });
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i].clear();
    for (const auto& word : all[i]) {
      names[i] += (names[i].empty() ? "" : " ") + named_metric(word);
    }
  }
}

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
  strip_common_words(chart.categories);
  chart.series = {predicted};
  if (!printed.points.empty()) {
    chart.series.push_back(printed);
  }
  return chart;
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
  std::string why_not(const FigureSource& figure, const PanelSource& panel) const {
    if (panel.measure.empty()) {
      return "";
    }
    if (auto refusal = why_not_trained(panel); !refusal.empty()) {
      return refusal;
    }
    if (measured_.recorded != nullptr) {
      return measured_.recorded->find(figure.id, panel.title)
                 ? ""
                 : "it is not in the record; measure it with --measure";
    }
    if (measured_.measure || is_in_profile(panel)) {
      return "";
    }
    return measured_.profile != nullptr ? "a profile does not hold it; measure it with --measure"
                                        : "it is measured: --measure";
  }

  /// The panel's charts; `before` are those of the panels before it.
  std::vector<Chart> charts(const FigureSource& figure, const PanelSource& panel,
                            const std::vector<Chart>& before) {
    if (!panel.profiles.empty()) {
      return explored_charts(panel, progress_);
    }
    Chart chart = panel.from.empty() ? chart_of(figure, panel) : derived_chart(panel, before);
    chart.title = panel.title;
    chart.kind = panel.kind;
    chart.x_label = panel.x_label;
    chart.y_label = panel.y_label;
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
    if (measured_.recorded != nullptr) {
      return measured_.recorded->find(figure.id, panel.title).value();
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

/// Adds the claims' errors to those of the charts, and fills in the mean.
void fill_errors(DrawnFigure& figure, std::vector<double> errors) {
  for (const auto& claim : figure.claims) {
    const double error = std::abs(claim.error.value_or(0));
    // A claim of a number that a chart has beside its printed one has the same error, and counts once.
    if (claim.size && std::find(errors.begin(), errors.end(), error) == errors.end()) {
      errors.push_back(error);
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

/// Why panels are left out, and which if others are drawn; empty if none is.
std::string why_left_out(const std::map<std::string, std::string>& left_out, bool has_others) {
  std::string titles;
  for (const auto& [title, why] : left_out) {
    titles += (titles.empty() ? "" : "; ") + title;
  }
  if (left_out.empty()) {
    return "";
  }
  const auto& why = left_out.begin()->second;
  return has_others && !titles.empty() ? titles + " (" + why + ")" : why;
}

DrawnFigure drawn(const FigureSource& source, Drawer& drawer) {
  DrawnFigure figure;
  figure.id = source.id;
  figure.shows = source.shows;
  figure.verdict = source.verdict;
  figure.why = source.why;
  figure.given = source.given;
  std::map<std::string, std::string> left_out;  // panels by title, and why
  std::vector<double> errors;
  for (const auto& panel : source.panels) {
    const auto base = left_out.find(panel.from);
    if (auto why = base == left_out.end() ? drawer.why_not(source, panel) : base->second; !why.empty()) {
      left_out.emplace(panel.title, std::move(why));
      continue;
    }
    for (auto& chart : drawer.charts(source, panel, figure.charts)) {
      add_printed(chart, panel, false);
      add_errors(chart, errors);
      add_printed(chart, panel, true);
      figure.charts.push_back(std::move(chart));
    }
  }
  figure.not_measured = why_left_out(left_out, !figure.charts.empty());
  for (const auto& claim : source.claims) {
    figure.claims.push_back(decided(claim, figure.charts, left_out));
  }
  fill_errors(figure, std::move(errors));
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

/// How many of some claims hold, and which do not.
struct Judged {
  int count = 0;
  int held = 0;
  std::string failed;

  void add(const std::optional<bool>& holds, const std::string& text) {
    if (holds) {
      ++count;
      held += *holds ? 1 : 0;
      failed += *holds ? "" : (failed.empty() ? "" : "; ") + text;
    }
  }

  /// "2 of 3 claims point the way the paper says; not so: water is dry."
  std::string sentence(const std::string& what, const std::string& how) const {
    return std::to_string(held) + " of " + std::to_string(count) + " " + what + " " + how +
           (failed.empty() ? "" : "; not so: " + failed) + ".";
  }
};

std::string signed_percent(double share) {
  const auto percent = std::lround(100 * share);
  return (percent < 0 ? "" : "+") + std::to_string(percent) + " %";
}

}  // namespace

std::string DrawnFigure::verdict_on_claims() const {
  Judged direction;
  Judged size;
  for (const auto& claim : claims) {
    direction.add(claim.direction, claim.text);
    size.add(claim.size, claim.text + (claim.error ? ", " + signed_percent(*claim.error) : ""));
  }
  if (direction.count + size.count == 0) {
    return claims.empty() ? "" : "None of its claims can be computed here.";
  }
  std::string text;
  if (direction.count > 0) {
    text =
        direction.sentence(direction.count == 1 ? "claim points" : "claims point", "the way the paper says");
  }
  if (size.count > 0) {
    text += text.empty() ? "" : " ";
    text += size.sentence(size.count == 1 ? "printed size is" : "printed sizes are",
                          "met within " + std::to_string(std::lround(100 * size_tolerance)) + " %");
  }
  return text;
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
