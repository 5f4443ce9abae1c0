#pragma once

#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gnomon::kernels {

/// The chance that a chi-square variable is at least `statistic`.
inline double chi_square_p(double statistic, double degrees_of_freedom) {
  return boost::math::gamma_q(degrees_of_freedom / 2, statistic / 2);
}

/// Pearson's test that the counts come from cells of these probabilities, all positive.
inline double fit_p(const std::vector<std::int64_t>& counts, const std::vector<double>& probabilities) {
  double total = 0;
  for (const auto count : counts) {
    total += static_cast<double>(count);
  }
  double statistic = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * probabilities[i];
    statistic += std::pow(static_cast<double>(counts[i]) - expected, 2) / expected;
  }
  return chi_square_p(statistic, static_cast<double>(counts.size()) - 1);
}

/// Pearson's test that the counts come from equally likely cells.
inline double uniformity_p(const std::vector<std::int64_t>& counts) {
  double total = 0;
  for (const auto count : counts) {
    total += static_cast<double>(count);
  }
  const double expected = total / static_cast<double>(counts.size());
  double statistic = 0;
  for (const auto count : counts) {
    statistic += std::pow(static_cast<double>(count) - expected, 2) / expected;
  }
  return chi_square_p(statistic, static_cast<double>(counts.size()) - 1);
}

}  // namespace gnomon::kernels
