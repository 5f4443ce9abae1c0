#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace gnomon::tuner {

/// Sobol's sequence in up to `max_dimensions` dimensions with the direction numbers of Joe and Kuo (SIAM
/// Journal on Scientific Computing 30, 2008), shifted by bits drawn from a seed: every block of 2^k points
/// that starts at a multiple of 2^k has one point in each of the 2^k equal parts of each axis.
class Sobol {
 public:
  static constexpr int max_dimensions = 21;

  /// Throws std::invalid_argument above max_dimensions.
  Sobol(int dimensions, std::uint64_t seed);

  /// Point number `index` (below 2^32), each coordinate in [0, 1).
  std::vector<double> at(std::uint32_t index) const;

 private:
  std::vector<std::array<std::uint32_t, 32>> directions_;
  std::vector<std::uint32_t> shifts_;
};

}  // namespace gnomon::tuner
