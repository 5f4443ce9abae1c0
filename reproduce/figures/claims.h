#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "reproduce/figures/chart.h"
#include "reproduce/figures/figure_document.h"

namespace gnomon::reproduce {

/// A size holds if it is off the printed number, or off the nearer end of a printed range, by at most this
/// share: one for all papers, chosen and not measured.
inline constexpr double size_tolerance = 0.2;

/// A paper's claim, and the predicted or measured value.
struct Claim {
  std::string text;
  std::string where;  ///< in the paper
  std::string unit;
  std::vector<std::string> panels;  ///< titles of the charts that it is computed from; none: all
  std::optional<double> printed;
  std::optional<double> printed_to;  ///< of a range
  bool limit = false;                ///< whether the printed number is a limit
  std::optional<double> value;       ///< none where it was not computed
  std::optional<double> error;       ///< value / printed - 1; 0 within a printed range
  std::optional<double> above;       ///< the side of the direction (ClaimSource)
  std::optional<double> below;
  std::optional<bool> direction;  ///< who wins, or which way a knob moves; none if the claim has no direction
  std::optional<bool> size;  ///< whether the error is at most size_tolerance; none without a printed size
  std::string why_not;       ///< why it was not computed

  /// Both the direction and the size, as far as the claim has them; none where it was not computed.
  std::optional<bool> holds() const {
    return direction || size ? std::optional(direction.value_or(true) && size.value_or(true)) : std::nullopt;
  }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("text", self.text);
    f("where", self.where);
    f("unit", self.unit);
    f("panels", self.panels);
    f("printed", self.printed);
    f("printed_to", self.printed_to);
    f("limit", self.limit);
    f("value", self.value);
    f("error", self.error);
    f("above", self.above);
    f("below", self.below);
    f("direction", self.direction);
    f("size", self.size);
    f("why_not", self.why_not);
  }
};

/// Computes a claim from its figure's charts, over the points that both sides have. A claim without points
/// has a why_not. Throws InputError for an unknown panel, series or category.
Claim decide(const ClaimSource& source, const std::vector<Chart>& charts);

}  // namespace gnomon::reproduce
