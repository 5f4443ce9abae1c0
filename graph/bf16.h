#pragma once

#include <bit>
#include <cstdint>

namespace gnomon::graph {

/// Rounds `value` to the nearest bfloat16 number (ties to even) and returns its bits, the upper half of those
/// of a fp32 number. Numbers that are too large become infinite; NaN stays NaN.
constexpr std::uint16_t bf16_from_float(float value) {
  constexpr std::uint32_t infinity = 0x7F800000U;
  constexpr std::uint32_t quiet_bit = 0x400000U;  // truncating a NaN then does not yield an infinity
  constexpr std::uint32_t below_half = 0x7FFFU;   // just below half a unit in the last place
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (bits & 0x7FFFFFFFU) > infinity;
  const std::uint32_t nearest = is_nan ? bits | quiet_bit : bits + below_half + ((bits >> 16) & 1U);
  return static_cast<std::uint16_t>(nearest >> 16);
}

/// Returns the value of a bfloat16 number, exactly.
constexpr float float_from_bf16(std::uint16_t bf16) {
  return std::bit_cast<float>(std::uint32_t{bf16} << 16);
}

}  // namespace gnomon::graph
