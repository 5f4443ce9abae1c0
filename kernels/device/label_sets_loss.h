#pragma once

#include <cmath>
#include <cstdint>

// Also compiled by nvcc as C++17.

/// The loss of one logit of a multi-label model: the binary cross-entropy of the class's probability 1 / (1 +
/// exp(-logit)) with the target, 1 for a class that the vertex has and 0 otherwise. Used by all devices.
namespace gnomon::kernels::device {

/// exp(-|logit|), from which both of the following are computed without overflow and without a difference of
/// numbers that are nearly equal.
constexpr float falling_exp(float logit) { return std::exp(-std::fabs(logit)); }

constexpr float binary_cross_entropy(float logit, float falling, std::uint8_t target) {
  const float positive = logit < 0 ? 0 : logit;  // NaN stays
  return positive - (target != 0 ? logit : 0) + std::log1p(falling);
}

/// The derivative of binary_cross_entropy() with respect to the logit.
constexpr float binary_cross_entropy_gradient(float logit, float falling, std::uint8_t target) {
  const bool is_positive = logit > 0;
  return target != 0 ? -(is_positive ? falling : 1) / (1 + falling)
                     : (is_positive ? 1 : falling) / (1 + falling);
}

/// Whether the class is predicted, at a probability above one half, just if the vertex has it.
constexpr bool is_predicted_as(float logit, std::uint8_t target) {
  return (logit > 0) == (target != 0) && logit == logit;
}

}  // namespace gnomon::kernels::device
