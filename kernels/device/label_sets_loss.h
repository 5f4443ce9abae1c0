#pragma once

#include <cmath>
#include <cstdint>

// Also compiled by nvcc as C++17.

/// The loss of one logit of a multi-label model: the binary cross-entropy of the class's probability 1 / (1 +
/// exp(-logit)) with the target, 1 for a class that the vertex has and 0 otherwise. Used by all devices.
namespace gnomon::kernels::device {

/// Without overflow for any logit.
constexpr float binary_cross_entropy(float logit, std::uint8_t target) {
  const float positive = logit < 0 ? 0 : logit;  // NaN stays
  return positive - (target != 0 ? logit : 0) + std::log1p(std::exp(-std::fabs(logit)));
}

/// The derivative of binary_cross_entropy() with respect to the logit, without a difference of numbers that
/// are nearly equal.
constexpr float binary_cross_entropy_gradient(float logit, std::uint8_t target) {
  return target != 0 ? -1 / (1 + std::exp(logit)) : 1 / (1 + std::exp(-logit));
}

/// Whether the class is predicted, at a probability above one half, just if the vertex has it.
constexpr bool is_predicted_as(float logit, std::uint8_t target) {
  return (logit > 0) == (target != 0) && logit == logit;
}

}  // namespace gnomon::kernels::device
