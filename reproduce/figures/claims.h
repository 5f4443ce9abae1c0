#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "reproduce/figures/chart.h"
#include "reproduce/figures/figure_document.h"

namespace gnomon::reproduce {

/// A paper's claim, and the predicted or measured value.
struct Claim {
  std::string text;
  std::string where;  ///< in the paper
  std::string unit;
  std::vector<std::string> panels;  ///< titles of the charts that it is computed from; none: all
  std::optional<double> printed;
  std::optional<double> value;  ///< none where it was not computed
  std::optional<double> error;  ///< value / printed - 1
  std::optional<double> above;  ///< bounds within which the claim holds (ClaimSource)
  std::optional<double> below;
  std::optional<double> within;
  std::optional<bool> holds;
  std::string why_not;  ///< why it was not computed

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("text", self.text);
    f("where", self.where);
    f("unit", self.unit);
    f("panels", self.panels);
    f("printed", self.printed);
    f("value", self.value);
    f("error", self.error);
    f("above", self.above);
    f("below", self.below);
    f("within", self.within);
    f("holds", self.holds);
    f("why_not", self.why_not);
  }
};

/// Computes a claim from its figure's charts, over the points that both sides have. A claim without points
/// has a why_not. Throws InputError for an unknown panel, series or category.
Claim decide(const ClaimSource& source, const std::vector<Chart>& charts);

}  // namespace gnomon::reproduce
