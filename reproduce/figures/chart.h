#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"

namespace gnomon::reproduce {

enum class ChartKind : std::uint8_t {
  lines,
  bars,
  stacked,   ///< bars of which each series is a part
  points,    ///< one mark for each pair of numbers
  timeline,  ///< lanes of stages
};

}  // namespace gnomon::reproduce

namespace gnomon::base {
template <>
struct EnumNames<reproduce::ChartKind> {
  using Kind = reproduce::ChartKind;
  static constexpr std::array<std::pair<Kind, std::string_view>, 5> values{{{Kind::lines, "lines"},
                                                                            {Kind::bars, "bars"},
                                                                            {Kind::stacked, "stacked"},
                                                                            {Kind::points, "points"},
                                                                            {Kind::timeline, "timeline"}}};
};
}  // namespace gnomon::base

namespace gnomon::reproduce {

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<double> deviation{};  ///< standard deviation of the values that y is the mean of

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("x", self.x);
    f.required("y", self.y);
    f("deviation", self.deviation);
  }
};

/// The name of the series of a table's rows, printed and predicted.
inline constexpr std::string_view table_series = "predicted";

struct ChartSeries {
  std::string name;
  bool printed = false;  ///< whether the paper prints these numbers
  std::vector<ChartPoint> points;
  bool level = false;  ///< one number that holds at every x; its points are the ends of the axis

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f("printed", self.printed);
    f("level", self.level);
    f("points", self.points);
  }
};

/// A stage of a timeline.
struct ChartSpan {
  std::string lane;
  std::string stage;
  std::int64_t batch = 0;
  double begin_s = 0;
  double end_s = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("lane", self.lane);
    f("stage", self.stage);
    f("batch", self.batch);
    f("begin_s", self.begin_s);
    f("end_s", self.end_s);
  }
};

/// The data of one chart of a figure, independent of the renderer.
struct Chart {
  std::string title;
  ChartKind kind = ChartKind::lines;
  std::string x_label;
  std::string y_label;                  ///< with its unit
  std::vector<std::string> categories;  ///< x is an index into them; empty: x is a number
  std::vector<ChartSeries> series;
  std::vector<ChartSpan> spans;      ///< of a timeline
  std::vector<std::string> missing;  ///< missing points, with the reason
  std::string measured_on{};         ///< the graph and the job of what was measured; empty otherwise

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("title", self.title);
    f("measured_on", self.measured_on);
    f("kind", self.kind);
    f("x_label", self.x_label);
    f("y_label", self.y_label);
    f("categories", self.categories);
    f("series", self.series);
    f("spans", self.spans);
    f("missing", self.missing);
  }

  /// Returns the predicted series of that name or, if there is none, the printed one; null without either.
  const ChartSeries* find(std::string_view name) const {
    const ChartSeries* found = nullptr;
    for (const auto& one : series) {
      if (one.name == name && (found == nullptr || found->printed)) {
        found = &one;
      }
    }
    return found;
  }
};

}  // namespace gnomon::reproduce
