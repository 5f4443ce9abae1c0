#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "reproduce/figures/chart.h"
#include "reproduce/figures/figure_document.h"

namespace gnomon::reproduce {

/// What a paper says, and what is predicted or measured here.
struct Claim {
  std::string text;
  std::string where;  ///< in the paper
  std::string unit;
  std::vector<std::string> panels;  ///< titles of the charts that it is computed from; none: all
  std::optional<double> printed;
  std::optional<double> value;  ///< none where it was not computed
  std::optional<double> error;  ///< value / printed - 1
  std::optional<double> above;  ///< what is asked of the value for the claim to hold (ClaimSource)
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

/// Computes a claim from its figure's charts. Points that only one side has are left out. A claim without any
/// point says so in why_not. Throws InputError if the source names a panel, series or category that there is
/// not.
Claim decide(const ClaimSource& source, const std::vector<Chart>& charts);

}  // namespace gnomon::reproduce
