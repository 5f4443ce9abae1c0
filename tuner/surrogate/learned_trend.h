#pragma once

#include <cstddef>
#include <vector>

#include "base/document.h"

namespace gnomon::tuner {

/// What a value's logarithm owes in proportion to the logarithms of sizes: ridge regression (Hoerl and
/// Kennard, Technometrics 12, 1970). Trees know the sizes that they were shown and no others; this goes on
/// beyond and between them.
struct LearnedTrend {
  double constant = 0;
  std::vector<double> weights;  ///< of log(1 + input), for the first inputs

  double at(const std::vector<double>& row) const;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("constant", self.constant);
    f.required("weights", self.weights);
  }
};

/// The trend of `values` with the first `count` inputs of each row, none of which is negative. An input that
/// is always the same has the weight 0.
LearnedTrend fit_trend(const std::vector<std::vector<double>>& rows, const std::vector<double>& values,
                       std::size_t count);

/// What share of the values' variance the trend explains (at least 0), divided among the inputs it uses by
/// how far each moves it: one number for each of `columns` inputs.
std::vector<double> trend_importance(const LearnedTrend& trend, const std::vector<std::vector<double>>& rows,
                                     const std::vector<double>& values, std::size_t columns);

}  // namespace gnomon::tuner
