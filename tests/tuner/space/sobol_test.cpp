#include "tuner/space/sobol.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace gnomon::tuner {
namespace {

TEST(Sobol, EveryBlockHasOnePointInEachPartOfEachAxis) {
  for (const std::uint64_t seed : {1, 2}) {
    const Sobol sequence(Sobol::max_dimensions, seed);
    for (const std::uint32_t size : {2U, 16U, 256U}) {
      for (std::uint32_t block = 0; block < 3; ++block) {
        for (std::size_t d = 0; d < Sobol::max_dimensions; ++d) {
          std::set<int> parts;
          for (std::uint32_t i = 0; i < size; ++i) {
            const double x = sequence.at(block * size + i).at(d);
            ASSERT_GE(x, 0);
            ASSERT_LT(x, 1);
            parts.insert(static_cast<int>(x * size));
          }
          EXPECT_EQ(parts.size(), size) << d;
        }
      }
    }
  }
}

/// The first two dimensions are a (0, 2)-sequence: every block of 16 points has one in each box of area 1/16.
TEST(Sobol, FirstTwoDimensionsFillEveryBox) {
  const Sobol sequence(2, 9);
  for (int rows = 1; rows <= 16; rows *= 2) {
    std::set<std::pair<int, int>> boxes;
    for (std::uint32_t i = 16; i < 32; ++i) {
      const auto point = sequence.at(i);
      boxes.emplace(static_cast<int>(point[0] * rows), static_cast<int>(point[1] * (16 / rows)));
    }
    EXPECT_EQ(boxes.size(), 16U) << rows;
  }
}

TEST(Sobol, SeedsShiftAndDimensionsHaveALimit) {
  EXPECT_EQ(Sobol(3, 1).at(5), Sobol(3, 1).at(5));
  EXPECT_NE(Sobol(3, 1).at(5), Sobol(3, 2).at(5));
  EXPECT_THROW(Sobol(Sobol::max_dimensions + 1, 1), std::invalid_argument);
}

}  // namespace
}  // namespace gnomon::tuner
