#include "profiles/scaling.h"

#include <gtest/gtest.h>

namespace gnomon::profiles {
namespace {

std::vector<ScalingPoint> by_amdahl(double serial, std::initializer_list<int> threads) {
  std::vector<ScalingPoint> points;
  for (const int t : threads) {
    points.push_back({t, 1 / (serial + (1 - serial) / t)});
  }
  return points;
}

std::vector<ScalingPoint> by_contention(double contention, std::initializer_list<int> workers) {
  std::vector<ScalingPoint> points;
  for (const int w : workers) {
    points.push_back({w, 1 / (1 + contention * (w - 1))});
  }
  return points;
}

TEST(Scaling, IsOneWithoutPoints) {
  EXPECT_EQ(speedup_at({}, 1), 1);
  EXPECT_EQ(speedup_at({}, 64), 1);
  EXPECT_EQ(worker_efficiency_at({}, 64), 1);
}

TEST(Scaling, IsExactAtPointsAndLinearBetween) {
  const std::vector<ScalingPoint> points = {{1, 1}, {2, 0.9}, {6, 0.5}};
  for (const auto at : {speedup_at, worker_efficiency_at}) {
    EXPECT_EQ(at(points, 1), 1);
    EXPECT_EQ(at(points, 2), 0.9);
    EXPECT_DOUBLE_EQ(at(points, 3), 0.8);  // 0.9 - 0.4 * 1/4
    EXPECT_EQ(at(points, 6), 0.5);
  }
}

TEST(Scaling, StartsFromOneThreadWhenItWasNotMeasured) {
  EXPECT_DOUBLE_EQ(speedup_at({{3, 2}}, 1), 1);
  EXPECT_DOUBLE_EQ(speedup_at({{3, 2}}, 2), 1.5);
}

TEST(Scaling, FindsTheLawsThatMadeThePoints) {
  EXPECT_NEAR(serial_share(by_amdahl(0.17, {1, 2, 4})), 0.17, 1e-12);
  EXPECT_NEAR(contention_share(by_contention(0.06, {1, 2, 4})), 0.06, 1e-12);
  EXPECT_NEAR(speedup_at(by_amdahl(0.17, {1, 2}), 64), 1 / (0.17 + 0.83 / 64), 1e-12);
  EXPECT_NEAR(worker_efficiency_at(by_contention(0.06, {2}), 64), 1 / (1 + 0.06 * 63), 1e-12);
}

TEST(Scaling, TheLawGoesOnFromTheLastPoint) {
  auto points = by_amdahl(0.1, {1, 2, 4});
  points.back().value *= 0.9;  // the law misses the last point
  const double serial = serial_share(points);
  const auto law = [&](int t) { return 1 / (serial + (1 - serial) / t); };
  EXPECT_NEAR(speedup_at(points, 8), points.back().value * law(8) / law(4), 1e-12);
}

// More threads never make the work of the last point slower, nor more workers each of them faster.
TEST(Scaling, StaysWithinWhatIsPossibleBeyondThePoints) {
  const std::vector<ScalingPoint> slower = {{1, 1}, {2, 0.8}};
  EXPECT_EQ(serial_share(slower), 1);
  EXPECT_EQ(speedup_at(slower, 16), 0.8);
  const std::vector<ScalingPoint> faster = {{1, 1}, {2, 2.3}};
  EXPECT_EQ(serial_share(faster), 0);
  EXPECT_DOUBLE_EQ(speedup_at(faster, 16), 2.3 * 8);
  EXPECT_EQ(contention_share({{1, 1}, {2, 1.1}}), 0);
  EXPECT_EQ(worker_efficiency_at({{1, 1}, {2, 1.1}}, 16), 1.1);
}

TEST(Scaling, OnePointOfOneThreadTellsNoLaw) {
  EXPECT_EQ(serial_share({{1, 1}}), 1);
  EXPECT_EQ(contention_share({{1, 1}}), 0);
  EXPECT_EQ(speedup_at({{1, 1}}, 8), 1);
}

}  // namespace
}  // namespace gnomon::profiles
