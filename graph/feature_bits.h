#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/bf16.h"
#include "graph/graph.h"
#include "graph/half.h"

/// The elements of each feature type as bits.
namespace gnomon::graph {

struct Fp32Bits {
  using Word = std::uint32_t;
  static constexpr Word one = 0x3F800000U;
  static constexpr Word without_sign = 0x7FFFFFFFU;
  static constexpr Word exponent = 0x7F800000U;  ///< all set: infinite or NaN
  static constexpr float max = std::numeric_limits<float>::max();
  static constexpr Word from_float(float value) { return std::bit_cast<Word>(value); }
  static constexpr float to_float(Word bits) { return std::bit_cast<float>(bits); }
};

struct Fp16Bits {
  using Word = std::uint16_t;
  static constexpr Word one = 0x3C00U;
  static constexpr Word without_sign = 0x7FFFU;
  static constexpr Word exponent = 0x7C00U;
  static constexpr float max = 65504;
  static constexpr Word from_float(float value) { return half_from_float(value); }
  static constexpr float to_float(Word bits) { return float_from_half(bits); }
};

struct Bf16Bits {
  using Word = std::uint16_t;
  static constexpr Word one = 0x3F80U;
  static constexpr Word without_sign = 0x7FFFU;
  static constexpr Word exponent = 0x7F80U;
  static constexpr float max = 0x1.FEp127F;
  static constexpr Word from_float(float value) { return bf16_from_float(value); }
  static constexpr float to_float(Word bits) { return float_from_bf16(bits); }
};

/// Returns act(bits), where `bits` is an instance of the type's struct above.
template <class Act>
decltype(auto) with_bits_of(FeatureType type, Act&& act) {
  switch (type) {
    case FeatureType::fp16:
      return std::forward<Act>(act)(Fp16Bits());
    case FeatureType::bf16:
      return std::forward<Act>(act)(Bf16Bits());
    case FeatureType::fp32:
      break;
  }
  return std::forward<Act>(act)(Fp32Bits());
}

/// Rounds the numbers to a 16-bit type and stores their bits in `to`, which is resized.
void round_features(FeatureType type, std::span<const float> from, std::vector<std::uint16_t>& to);

/// Converts elements of type `from` to type `to`, rounding to nearest even. Throws InputError, naming
/// `where`, for a number that is not finite in type `to`.
std::vector<std::byte> in_type(FeatureType to, FeatureType from, std::span<const std::byte> elements,
                               const std::string& where);

}  // namespace gnomon::graph
