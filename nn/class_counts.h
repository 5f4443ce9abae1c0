#pragma once

#include <cstdint>
#include <limits>
#include <vector>

/// What metrics are computed from (nn/metrics.h).
namespace gnomon::nn {

/// NaN if the divisor is 0.
inline double quotient(double dividend, double divisor) {
  return divisor == 0 ? std::numeric_limits<double>::quiet_NaN() : dividend / divisor;
}

/// The predictions of one class.
struct ClassCounts {
  std::int64_t true_positives = 0;
  std::int64_t false_positives = 0;
  std::int64_t false_negatives = 0;

  /// 2 TP / (2 TP + FP + FN); NaN if the class is neither among the labels nor predicted.
  double f1() const {
    const auto doubled = static_cast<double>(2 * true_positives);
    return quotient(doubled, doubled + static_cast<double>(false_positives + false_negatives));
  }
};

/// F1 of the counts of all classes together.
double micro_f1(const std::vector<ClassCounts>& counts);

/// The mean of the values that are not NaN; NaN if there are none.
double mean_of_defined(const std::vector<double>& values);

}  // namespace gnomon::nn
