#pragma once

#include <cstddef>
#include <vector>

#include "base/document.h"

namespace gnomon::tuner {

/// Ridge regression of a value's logarithm on the logarithms of sizes (Hoerl and Kennard, Technometrics 12,
/// 1970). It interpolates and extrapolates between sizes, which trees cannot.
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

/// The trend of `values` with the first `count` inputs of each row. Precondition: these are not negative. A
/// constant input gets the weight 0.
LearnedTrend fit_trend(const std::vector<std::vector<double>>& rows, const std::vector<double>& values,
                       std::size_t count);

/// The share of the values' variance that the trend explains (at least 0), divided among its inputs by their
/// effect: one number for each of `columns` inputs.
std::vector<double> trend_importance(const LearnedTrend& trend, const std::vector<std::vector<double>>& rows,
                                     const std::vector<double>& values, std::size_t columns);

}  // namespace gnomon::tuner
