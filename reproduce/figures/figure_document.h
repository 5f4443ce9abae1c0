#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "graph/generate/generate.h"
#include "plan/job.h"
#include "reproduce/figures/chart.h"

/// The documents of profiles/figures: each figure and table of a paper, what it shows, how it is drawn and
/// which of the paper's claims it supports.
namespace gnomon::reproduce {

enum class Verdict : std::uint8_t {
  reproduced,  ///< the report has its printed numbers beside ours
  predicted,   ///< by the simulator or a formula, from given inputs
  measured,    ///< by a run on the user's machine
  not_drawn,   ///< with a reason
};

/// How a panel shows a predicted epoch.
enum class View : std::uint8_t {
  values,         ///< a column of `gnomon explore` against the swept field
  use_over_time,  ///< how busy a resource is, against the epoch's time
  timeline,       ///< the stages at the start of the epoch
};

/// How several numbers are reduced to one.
enum class Pick : std::uint8_t { mean, min, max, first, last };

enum class Quantity : std::uint8_t {
  ratio,       ///< `of` over `over` or, without it, `of`
  difference,  ///< `of` minus `over`
  crossing,    ///< the x at which `of` first is below `over`
  least_at,    ///< the x that minimises `of`
  points,      ///< how many points of `of` are known
};

/// What a panel computes from the chart of another one.
enum class Derived : std::uint8_t {
  none,
  speed_up,    ///< how much less each series is than at its first x
  lost,        ///< how far each series is below the base
  mean_ratio,  ///< the mean over x of each series over the base; a category for each series
};

}  // namespace gnomon::reproduce

namespace gnomon::base {
template <>
struct EnumNames<reproduce::Verdict> {
  using Verdict = reproduce::Verdict;
  static constexpr std::array<std::pair<Verdict, std::string_view>, 4> values{
      {{Verdict::reproduced, "reproduced"},
       {Verdict::predicted, "predicted"},
       {Verdict::measured, "measured"},
       {Verdict::not_drawn, "not"}}};
};
template <>
struct EnumNames<reproduce::View> {
  using View = reproduce::View;
  static constexpr std::array<std::pair<View, std::string_view>, 3> values{
      {{View::values, "values"}, {View::use_over_time, "use_over_time"}, {View::timeline, "timeline"}}};
};
template <>
struct EnumNames<reproduce::Pick> {
  using Pick = reproduce::Pick;
  static constexpr std::array<std::pair<Pick, std::string_view>, 5> values{{{Pick::mean, "mean"},
                                                                            {Pick::min, "min"},
                                                                            {Pick::max, "max"},
                                                                            {Pick::first, "first"},
                                                                            {Pick::last, "last"}}};
};
template <>
struct EnumNames<reproduce::Quantity> {
  using Quantity = reproduce::Quantity;
  static constexpr std::array<std::pair<Quantity, std::string_view>, 5> values{
      {{Quantity::ratio, "ratio"},
       {Quantity::difference, "difference"},
       {Quantity::crossing, "crossing"},
       {Quantity::least_at, "least_at"},
       {Quantity::points, "points"}}};
};
template <>
struct EnumNames<reproduce::Derived> {
  using Derived = reproduce::Derived;
  static constexpr std::array<std::pair<Derived, std::string_view>, 4> values{
      {{Derived::none, "none"},
       {Derived::speed_up, "speed_up"},
       {Derived::lost, "lost"},
       {Derived::mean_ratio, "mean_ratio"}}};
};
}  // namespace gnomon::base

namespace gnomon::reproduce {

/// A series of an explored or trained panel: one plan. Of several points with the same x the least is shown,
/// so that a field can be swept for its best value.
struct SeriesSource {
  std::string name;
  std::string plan;              ///< a preset
  std::vector<std::string> set;  ///< as `gnomon explore --set`; of a trained plan one value each
  bool flat = false;             ///< does not depend on the panel's x
  std::string y;                 ///< instead of the panel's

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f.required("plan", self.plan);
    f("set", self.set);
    f("flat", self.flat);
    f("y", self.y);
  }
};

/// A number that the paper prints: at an x, in a category or, without either, a level across the chart.
struct PrintedPoint {
  std::string series;
  std::optional<double> x;
  std::string category;
  double y = 0;
  std::string where;      ///< in the paper
  bool in_claim = false;  ///< whether a claim has its error, so that it does not count twice

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("series", self.series);
    f("x", self.x);
    f("category", self.category);
    f.required("y", self.y);
    f.required("where", self.where);
    f("in_claim", self.in_claim);
  }
};

/// One chart: explored (`profiles`), the rows of a table of the paper's report (`table`), drawn by a function
/// of drawings.h (`draw`), measured (`measure`), or derived from an earlier panel of the figure (`from`).
struct PanelSource {
  std::string title;
  ChartKind kind = ChartKind::lines;
  std::vector<std::string> profiles;  ///< several, or one without `x`: each is a category
  std::string machine;                ///< of the catalog, which the profiles are scaled to
  View view = View::values;
  std::string x;         ///< the swept field, as `gnomon explore --set`
  std::string x_column;  ///< instead: x is this column of each row
  std::string y;         ///< what explored_chart.h knows or, over time, a resource
  double scale = 1;      ///< of y
  double x_scale = 1;    ///< of numbers on the x axis
  std::vector<std::string> set;
  std::vector<SeriesSource> series;
  std::string table;
  std::string only;  ///< of the table: rows whose cell has this text
  std::string draw;
  std::string measure;  ///< a measurement of measure/measurements.h, on the figure's `measured_on`
  std::string from;     ///< the title of the panel that this one is derived from
  Derived derived = Derived::none;
  std::string base;  ///< the series of that panel which `lost` and `mean_ratio` compare with
  std::string x_label;
  std::string y_label;
  std::vector<PrintedPoint> printed;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("title", self.title);
    f("kind", self.kind);
    f("profiles", self.profiles);
    f("machine", self.machine);
    f("view", self.view);
    f("x", self.x);
    f("x_column", self.x_column);
    f("y", self.y);
    f("scale", self.scale);
    f("x_scale", self.x_scale);
    f("set", self.set);
    f("series", self.series);
    f("table", self.table);
    f("only", self.only);
    f("draw", self.draw);
    f("measure", self.measure);
    f("from", self.from);
    f("derived", self.derived);
    f("base", self.base);
    f("x_label", self.x_label);
    f.required("y_label", self.y_label);
    f("printed", self.printed);
  }
};

/// A side of a claim's comparison: a curve, or one number of it.
struct SideSource {
  std::string series;
  std::optional<double> x;
  std::string category;
  std::optional<Pick> pick;
  bool lead = false;  ///< instead of y: the least y of all other series over this one's

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("series", self.series);
    f("x", self.x);
    f("category", self.category);
    f("pick", self.pick);
    f("lead", self.lead);
  }
};

/// Something that the paper says, and how it is computed from the figure's charts. Its direction holds if the
/// number is on the side of `above` and `below` that the paper says; its size holds if the number is near the
/// printed one (claims.h).
struct ClaimSource {
  std::string text;
  std::string where;
  std::string unit;
  Quantity quantity = Quantity::ratio;
  std::vector<std::string> panels;  ///< titles; none: all
  std::optional<SideSource> of;
  std::optional<SideSource> over;
  Pick pick = Pick::mean;  ///< over the points of all those panels
  std::optional<double> printed;
  std::optional<double>
      printed_to;      ///< the upper end of a printed range, of which `printed` is the lower one
  bool limit = false;  ///< the printed number is a limit ("less than"), which has no size
  std::optional<double> above;
  std::optional<double> below;
  std::string why_not;  ///< why it cannot be computed

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("text", self.text);
    f.required("where", self.where);
    f("unit", self.unit);
    f("quantity", self.quantity);
    f("panels", self.panels);
    f("of", self.of);
    f("over", self.over);
    f("pick", self.pick);
    f("printed", self.printed);
    f("printed_to", self.printed_to);
    f("limit", self.limit);
    f("above", self.above);
    f("below", self.below);
    f("why_not", self.why_not);
  }
};

/// The job that a figure is measured with, on the user's graph or, without one, on a generated graph that is
/// shaped like one of the paper's and small enough for a few minutes of two cores.
struct MeasuredOn {
  std::optional<graph::PlantedPartition> planted{};  ///< for accuracy
  std::optional<graph::Rmat> rmat{};                 ///< for skewed accesses
  plan::Job job{};
  int seeds = 1;        ///< trainings of each plan
  int min_batches = 1;  ///< per epoch; mini-batches are made smaller to have as many

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("planted", self.planted);
    f("rmat", self.rmat);
    f.required("job", self.job);
    f("seeds", self.seeds, base::Range{1, 100});
    f("min_batches", self.min_batches, base::Range{1, 1e6});
  }
};

struct FigureSource {
  std::string id;     ///< "F8", "T3"
  std::string shows;  ///< what is on its axes
  Verdict verdict = Verdict::not_drawn;
  std::string why;    ///< of a figure that is not drawn
  std::string given;  ///< what the prediction is made from, or what is measured
  std::optional<MeasuredOn> measured_on{};
  std::vector<PanelSource> panels;
  std::vector<ClaimSource> claims;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("id", self.id);
    f.required("shows", self.shows);
    f.required("verdict", self.verdict);
    f("why", self.why);
    f("given", self.given);
    f("measured_on", self.measured_on);
    f("panels", self.panels);
    f("claims", self.claims);
  }
};

struct FiguresDocument {
  static constexpr std::string_view schema = "gnomon.figures/1";

  std::string paper;
  std::string of;  ///< the pages that the figures are of, in words
  std::vector<FigureSource> figures;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("paper", self.paper);
    f("of", self.of);
    f.required("figures", self.figures);
  }

  /// Returns the figure of that id. Throws InputError that lists all.
  const FigureSource& figure(std::string_view id) const;
};

/// Throws InputError unless every figure has what its verdict asks for, each panel one source, and each claim
/// a way to be decided or a reason why it is not.
void check(const FiguresDocument& document, const std::string& where);

/// Returns a paper's document, which is built into the program, after check(). Throws InputError for a paper
/// without one.
FiguresDocument find_figures(std::string_view paper);

}  // namespace gnomon::reproduce
