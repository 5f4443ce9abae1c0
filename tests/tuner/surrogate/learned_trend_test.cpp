#include "tuner/surrogate/learned_trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace gnomon::tuner {
namespace {

/// Every combination of two sizes, so that their logarithms are not correlated; the third input is always the
/// same, and the fourth is not among those that the trend may use.
struct Grid {
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
};

Grid grid() {
  Grid grid;
  for (const double a : {1.0, 10.0, 1e3, 1e6}) {
    for (const double b : {0.0, 5.0, 70.0}) {
      grid.rows.push_back({a, b, 8, b});
      grid.values.push_back(2 + 0.5 * std::log1p(a) - 1.5 * std::log1p(b));
    }
  }
  return grid;
}

TEST(LearnedTrend, ShrinksEachWeightAsRidgeRegressionDoes) {
  const auto known = grid();
  const auto trend = fit_trend(known.rows, known.values, 3);
  ASSERT_EQ(trend.weights.size(), 3U);
  // Inputs that are not correlated are each divided by 1 + ridge.
  EXPECT_NEAR(trend.weights[0], 0.5 / 1.1, 1e-9);
  EXPECT_NEAR(trend.weights[1], -1.5 / 1.1, 1e-9);
  EXPECT_EQ(trend.weights[2], 0);
}

TEST(LearnedTrend, IsRightInTheMean) {
  const auto known = grid();
  const auto trend = fit_trend(known.rows, known.values, 3);
  double told = 0;
  for (const auto& row : known.rows) {
    told += trend.at(row);
  }
  EXPECT_NEAR(told, std::accumulate(known.values.begin(), known.values.end(), 0.0), 1e-9);
}

TEST(LearnedTrend, GoesOnBeyondWhatItWasShown) {
  const auto known = grid();
  const auto trend = fit_trend(known.rows, known.values, 3);
  EXPECT_NEAR(trend.at({1e9, 5, 8, 5}) - trend.at({1e6, 5, 8, 5}), 0.5 / 1.1 * std::log(1e3), 1e-5);
}

TEST(LearnedTrend, SharesWhatItExplainsAmongItsInputs) {
  const auto known = grid();
  const auto importance =
      trend_importance(fit_trend(known.rows, known.values, 3), known.rows, known.values, 4);
  ASSERT_EQ(importance.size(), 4U);
  // A weight of w / 1.1 leaves (0.1 / 1.1)² of its share of the variance.
  const double explained = 1 - std::pow(0.1 / 1.1, 2);
  EXPECT_NEAR(importance[0] + importance[1], explained, 1e-9);
  const auto deviation = [](std::vector<double> values) {
    double mean = 0;
    double square = 0;
    for (const double value : values) {
      mean += std::log1p(value) / static_cast<double>(values.size());
      square += std::pow(std::log1p(value), 2) / static_cast<double>(values.size());
    }
    return std::sqrt(square - mean * mean);
  };
  const double moves_a = 0.5 * deviation({1, 10, 1e3, 1e6});
  const double moves_b = 1.5 * deviation({0, 5, 70});
  EXPECT_NEAR(importance[0], explained * moves_a / (moves_a + moves_b), 1e-9);
  EXPECT_EQ(importance[2], 0);
  EXPECT_EQ(importance[3], 0);
}

}  // namespace
}  // namespace gnomon::tuner
