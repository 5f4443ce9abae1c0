#pragma once

#include <cstdint>

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// The bits of a bfloat16 number, the upper half of a single-precision one.
struct Bf16 {
  std::uint16_t bits;
};

namespace passes {

/// Returns the value of an IEEE 754 half-precision number.
constexpr float float_of(std::uint16_t half) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7FFFU) << 13U;
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16U;
  constexpr float rebias = 5.192296858534828e33F;  // 2^112, the difference of the exponent biases
  const bool is_finite = magnitude < (0x7C00U << 13U);
  const float finite = __builtin_bit_cast(float, magnitude) * rebias;
  const std::uint32_t bits = is_finite ? __builtin_bit_cast(std::uint32_t, finite) : magnitude | 0x7F800000U;
  return __builtin_bit_cast(float, bits | sign);
}
constexpr float float_of(float value) { return value; }

constexpr float float_of(Bf16 value) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16U);
}

}  // namespace passes
}  // namespace gnomon::kernels::device
