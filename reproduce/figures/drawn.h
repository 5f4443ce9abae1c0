#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/progress.h"
#include "profiles/profile.h"
#include "reproduce/figures/chart.h"
#include "reproduce/figures/claims.h"
#include "reproduce/figures/figure_document.h"
#include "reproduce/figures/recorded.h"
#include "reproduce/report.h"
#include "sim/simulator.h"

namespace gnomon::reproduce {

/// A figure or table of a paper with its charts and claims.
struct DrawnFigure {
  std::string id;
  std::string shows;
  Verdict verdict = Verdict::not_drawn;
  std::string why;           ///< of a figure that is not drawn
  std::string not_measured;  ///< why some or all of its panels are left out
  std::string given;
  std::vector<Chart> charts;
  std::vector<Claim> claims;
  std::int64_t printed_numbers = 0;  ///< that a prediction or a measurement stands beside
  std::optional<double> mean_error;  ///< over them, of |predicted / printed - 1|

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("id", self.id);
    f("shows", self.shows);
    f("verdict", self.verdict);
    f("why", self.why);
    f("not_measured", self.not_measured);
    f("given", self.given);
    f("charts", self.charts);
    f("claims", self.claims);
    f("printed_numbers", self.printed_numbers);
    f("mean_error", self.mean_error);
  }

  /// How many claims point the way the paper says and how many printed sizes are met, and which are not; a
  /// sentence for each.
  std::string verdict_on_claims() const;
};

/// Measures a panel's chart, without labels and printed numbers. Series and points that cannot be measured
/// are `missing`. Throws InputError for an unknown measurement and for a graph that lacks the data it needs.
using MeasureChart = std::function<Chart(const PanelSource& panel, const MeasuredOn& on)>;

/// The source of measured panels: a profile of the user's graph, which holds the counts of some of them
/// (counts_chart.h), charts that were measured before, or a function that measures all of them. Without any,
/// they are left out and the figure says why.
struct Measured {
  const profiles::Profile* profile = nullptr;
  MeasureChart measure{};
  const RecordedCharts* recorded = nullptr;
};

struct DrawnPaper {
  static constexpr std::string_view schema = "gnomon.drawn_figures/1";

  std::string paper;
  std::string source;
  std::vector<DrawnFigure> figures;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("paper", self.paper);
    f("source", self.source);
    f("figures", self.figures);
  }
};

/// Draws the figures of a paper with these ids, in the paper's order; "all" stands for every one. Throws
/// InputError for an unknown paper or figure, before anything is simulated, and for a profile without what a
/// figure needs.
DrawnPaper draw_figures(sim::Simulator& simulator, std::string_view paper,
                        const std::vector<std::string>& ids, const base::Progress& progress,
                        const Measured& measured = {});

}  // namespace gnomon::reproduce
