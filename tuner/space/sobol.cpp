#include "tuner/space/sobol.h"

#include <stdexcept>

#include "base/philox.h"

namespace gnomon::tuner {
namespace {

/// A primitive polynomial over the integers modulo 2, and its first direction numbers.
struct Polynomial {
  int degree;
  std::uint32_t coefficients;  ///< of the terms between the first and the last
  std::array<std::uint32_t, 7> first;
};

/// The polynomials of the second and all following dimensions.
constexpr std::array<Polynomial, Sobol::max_dimensions - 1> polynomials{{
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
    {6, 19, {1, 1, 1, 15, 7, 5}},
    {6, 22, {1, 3, 1, 15, 13, 25}},
    {6, 25, {1, 1, 5, 5, 19, 61}},
    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
    {7, 4, {1, 3, 7, 13, 13, 15, 69}},
}};

std::array<std::uint32_t, 32> directions_of(const Polynomial& polynomial) {
  std::array<std::uint32_t, 32> numbers{};
  const auto degree = static_cast<std::size_t>(polynomial.degree);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i < degree) {
      numbers[i] = polynomial.first[i] << (31 - i);
      continue;
    }
    numbers[i] = numbers[i - degree] ^ (numbers[i - degree] >> degree);
    for (std::size_t k = 1; k < degree; ++k) {
      if (((polynomial.coefficients >> (degree - 1 - k)) & 1U) != 0) {
        numbers[i] ^= numbers[i - k];
      }
    }
  }
  return numbers;
}

}  // namespace

Sobol::Sobol(int dimensions, std::uint64_t seed) {
  if (dimensions > max_dimensions) {
    throw std::invalid_argument("Sobol's sequence has at most 21 dimensions here");
  }
  base::RandomStream random({.seed = seed, .purpose = base::Purpose::simulate, .epoch = 1U << 21});
  for (int d = 0; d < dimensions; ++d) {
    auto& numbers = directions_.emplace_back();
    if (d == 0) {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = 1U << (31 - i);
      }
    } else {
      numbers = directions_of(polynomials[static_cast<std::size_t>(d - 1)]);
    }
    shifts_.push_back(static_cast<std::uint32_t>(random()));
  }
}

std::vector<double> Sobol::at(std::uint32_t index) const {
  std::vector<double> point;
  for (std::size_t d = 0; d < directions_.size(); ++d) {
    std::uint32_t bits = shifts_[d];
    for (std::size_t i = 0; i < 32; ++i) {
      bits ^= ((index >> i) & 1U) != 0 ? directions_[d][i] : 0;
    }
    point.push_back(bits * 0x1.0p-32);
  }
  return point;
}

}  // namespace gnomon::tuner
