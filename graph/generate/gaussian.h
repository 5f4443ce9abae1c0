#pragma once

#include <cmath>

#include "base/philox.h"

namespace gnomon::graph {

/// Returns ln(x) of a positive normal number to about 1e-15. It uses only basic arithmetic and therefore
/// returns the same bits on every platform, unlike std::log, whose last digit depends on the C library.
inline double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // ln(m) = 2·artanh(s) with s = (m − 1)/(m + 1), |s| < 0.172: the error after eleven terms is below 1e-17.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) {
    sum = sum * square + 1.0 / k;
  }
  return 2 * s * sum + exponent * 0.69314718055994531;
}

/// Generates standard normal numbers from a random stream by Marsaglia's polar method (1964).
class Gaussian {
 public:
  explicit Gaussian(const base::StreamKey& key) : random_(key) {}
  double operator()() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x = 0;
    double y = 0;
    double square = 0;
    do {
      // One 64-bit word gives both coordinates.
      const std::uint64_t word = random_();
      x = static_cast<double>(static_cast<std::int32_t>(word >> 32)) * 0x1p-31;
      y = static_cast<double>(static_cast<std::int32_t>(word)) * 0x1p-31;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double scale = std::sqrt(-2 * portable_log(square) / square);
    spare_ = y * scale;
    has_spare_ = true;
    return x * scale;
  }

 private:
  base::RandomStream random_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace gnomon::graph
