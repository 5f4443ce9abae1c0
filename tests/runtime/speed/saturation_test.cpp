#include "runtime/speed/saturation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace gnomon::runtime {
namespace {

TEST(SaturationShare, IsTheLeastThatReadsNearlyAsMuchAsTheBest) {
  const std::vector<ShareBandwidth> measured{
      {1, 24.0}, {0.5, 25.0}, {0.25, 24.1}, {0.125, 23.0}, {0.0625, 24.2}};
  EXPECT_EQ(saturation_share(measured), 0.0625);
  EXPECT_EQ(saturation_share(measured, 0.99), 0.5);
  EXPECT_EQ(saturation_share(measured, 0.9), 0.0625);
}

TEST(SaturationShare, IsFoundAmongPowersOfTwo) {
  std::vector<double> asked;
  const auto share = find_saturation_share([&](double part) {
    asked.push_back(part);
    return std::min(part, 0.2);
  });
  EXPECT_EQ(share, 0.25);
  EXPECT_EQ(asked, (std::vector<double>{1 / 64., 1 / 32., 1 / 16., 1 / 8., 1 / 4., 1 / 2., 1}));
}

TEST(SaturationShare, IsNotKnownWithoutAMeasurement) {
  EXPECT_EQ(saturation_share({}), std::nullopt);
  const std::vector<ShareBandwidth> nothing{{1, 0.0}, {0.5, 0.0}};
  EXPECT_EQ(saturation_share(nothing), std::nullopt);
}

}  // namespace
}  // namespace gnomon::runtime
