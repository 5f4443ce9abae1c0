#include "apps/text/figures_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apps/text/figures_page.h"
#include "apps/text/format.h"
#include "apps/text/page.h"
#include "apps/text/table.h"
#include "reproduce/figures/figure_document.h"

namespace gnomon::apps {
namespace {

using reproduce::Chart;
using reproduce::ChartKind;
using reproduce::ChartSeries;
using reproduce::Claim;
using reproduce::DrawnFigure;

/// Maximum number of x values in a table; larger ones are subsampled.
constexpr std::size_t max_rows = 24;

std::vector<double> places_of(const Chart& chart) {
  std::set<double> all;
  for (const auto& series : chart.series) {
    for (const auto& point : series.points) {
      all.insert(point.x);
    }
  }
  const std::size_t step = (all.size() + max_rows - 1) / max_rows;
  std::vector<double> some;
  std::size_t i = 0;
  for (const double x : all) {
    if (i++ % step == 0) {
      some.push_back(x);
    }
  }
  return some;
}

std::string number_at(const ChartSeries& series, double x) {
  const auto at = std::find_if(series.points.begin(), series.points.end(),
                               [&](const auto& point) { return point.x == x; });
  if (at == series.points.end()) {
    return "-";
  }
  return format_number(at->y) + (at->deviation ? " ± " + format_number(*at->deviation) : "");
}

std::string label_of(const ChartSeries& series) {
  if (!series.printed) {
    return series.name;
  }
  return series.name == reproduce::table_series ? "printed" : series.name + ", printed";
}

std::string chart_text(const Chart& chart) {
  std::string text = fmt::format("\n{}{}{}\n", chart.title, chart.title.empty() ? "" : ": ", chart.y_label);
  text += chart.measured_on.empty() ? "" : "measured on " + chart.measured_on + "\n";
  if (chart.kind == ChartKind::timeline) {
    return text + fmt::format("a timeline of {} stages; --html draws it\n", chart.spans.size());
  }
  std::vector<std::string> headings{chart.x_label};
  for (const auto& series : chart.series) {
    headings.push_back(label_of(series));
  }
  Table table(headings);
  for (const double x : places_of(chart)) {
    std::vector<std::string> cells{chart.categories.empty() ? format_number(x)
                                                            : chart.categories[static_cast<std::size_t>(x)]};
    for (const auto& series : chart.series) {
      cells.push_back(number_at(series, x));
    }
    table.add_row(std::move(cells));
  }
  text += table.text();
  for (const auto& missing : chart.missing) {
    text += "not possible: " + missing + "\n";
  }
  return text;
}

std::string asked_of(const Claim& claim) {
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (claim.above) {
    add("above " + format_number(*claim.above));
  }
  if (claim.below) {
    add("below " + format_number(*claim.below));
  }
  if (claim.printed) {
    const auto to = claim.printed_to ? " to " + format_number(*claim.printed_to) : "";
    add((claim.limit ? "printed limit " : "printed ") + format_number(*claim.printed) + to);
  }
  if (claim.error) {
    add(format_change(*claim.error));
  }
  return text;
}

std::string yes_or_no(const std::optional<bool>& holds) { return holds ? (*holds ? "yes" : "no") : "-"; }

std::string claim_text(const Claim& claim) {
  const auto judged = fmt::format("[direction {}, size {}] {}: ", yes_or_no(claim.direction),
                                  yes_or_no(claim.size), claim.text);
  if (!claim.value) {
    return judged + claim.why_not + "\n";
  }
  return judged + fmt::format("{} {} ({})\n", format_number(*claim.value), claim.unit, asked_of(claim));
}

std::string figure_text(const DrawnFigure& figure) {
  std::string text = fmt::format("{}: {}\n", figure.id, figure.shows);
  if (!figure.why.empty()) {
    text += "not drawn: " + figure.why + "\n";
  } else {
    const bool is_measured = figure.verdict == reproduce::Verdict::measured;
    text +=
        fmt::format("{}{} {}\n", base::name_of(figure.verdict), is_measured ? ":" : " from", figure.given);
  }
  text += figure.not_measured.empty() ? "" : "not measured here: " + figure.not_measured + "\n";
  for (const auto& chart : figure.charts) {
    text += chart_text(chart);
  }
  text += figure.claims.empty() ? "" : "\n";
  for (const auto& claim : figure.claims) {
    text += claim_text(claim);
  }
  return text;
}

}  // namespace

std::string figures_text(const reproduce::DrawnPaper& paper) {
  std::string text = fmt::format("{}: {}\n", paper.paper, paper.source);
  for (const auto& figure : paper.figures) {
    text += "\n" + figure_text(figure);
  }
  return text;
}

std::string list_of_figures(const std::string& paper) {
  Table table({"figure", "verdict", "shows"});
  for (const auto& figure : reproduce::find_figures(paper).figures) {
    table.add_row({figure.id, std::string(base::name_of(figure.verdict)), figure.shows});
  }
  return table.text() +
         fmt::format("draw them with: gnomon reproduce {0} FIGURE… or gnomon reproduce {0} --html FILE\n",
                     paper);
}

base::Json figures_json(const reproduce::DrawnPaper& paper) {
  auto document = base::to_document(paper);
  for (std::size_t i = 0; i < paper.figures.size(); ++i) {
    document["figures"][i]["on_claims"] = paper.figures[i].verdict_on_claims();
  }
  return document;
}

void write_figures_page(const std::filesystem::path& path, const reproduce::DrawnPaper& paper) {
  write_page(path, {"gnomon reproduce", figures_body, figures_script}, figures_json(paper));
}

}  // namespace gnomon::apps
