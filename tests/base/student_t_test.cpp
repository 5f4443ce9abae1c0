#include "base/student_t.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace gnomon::base {
namespace {

/// Probability that |t| < x with n degrees of freedom: Simpson's rule on the density.
double probability_inside(double x, double n) {
  const double scale =
      std::exp(std::lgamma((n + 1) / 2) - std::lgamma(n / 2)) / std::sqrt(n * std::numbers::pi);
  const auto density = [&](double t) { return scale * std::pow(1 + t * t / n, -(n + 1) / 2); };
  const int steps = 20'000;
  double sum = density(0) + density(x);
  for (int i = 1; i < steps; ++i) {
    sum += density(x * i / steps) * (i % 2 == 1 ? 4 : 2);
  }
  return 2 * sum * x / steps / 3;
}

TEST(StudentT, IsTheQuantileOfItsDensity) {
  for (const int degrees : {1, 2, 3, 4, 5, 9, 18, 30, 100, 1000}) {
    EXPECT_NEAR(probability_inside(student_t_975(degrees), degrees), 0.95, 2e-4) << degrees;
  }
}

}  // namespace
}  // namespace gnomon::base
