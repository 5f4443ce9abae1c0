#include "runtime/saturation.h"

#include <gtest/gtest.h>

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

TEST(SaturationShare, IsNotKnownWithoutAMeasurement) {
  EXPECT_EQ(saturation_share({}), 0);
  const std::vector<ShareBandwidth> nothing{{1, 0.0}, {0.5, 0.0}};
  EXPECT_EQ(saturation_share(nothing), 0);
}

}  // namespace
}  // namespace gnomon::runtime
