#include "tuner/search/pareto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/random_seed.h"

namespace gnomon::tuner {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Pareto, FrontByHand) {
  EXPECT_THAT(pareto_front({{3, 1}, {2, 2}, {2, 2}, {3, 3}, {1, 5}, {1, 6}}), ElementsAre(4, 1, 0));
  EXPECT_THAT(pareto_front({{1, 1, 5}, {1, 1, 4}}), ElementsAre(1));
  EXPECT_THAT(pareto_front({}), IsEmpty());
}

TEST(Pareto, HypervolumeByHand) {
  EXPECT_DOUBLE_EQ(hypervolume({{1, 2}, {2, 1}}, {3, 3}), 3);  // two of 2 by 1 that share 1 by 1
  EXPECT_DOUBLE_EQ(hypervolume({{1, 2}, {1, 2}, {2, 4}}, {3, 3}), 2);
  EXPECT_DOUBLE_EQ(hypervolume({{1, 1, 1}}, {2, 3, 4}), 6);
  EXPECT_DOUBLE_EQ(hypervolume({{5, 5}}, {3, 3}), 0);
  EXPECT_DOUBLE_EQ(hypervolume({}, {3, 3}), 0);
}

TEST(Pareto, HypervolumeIsTheShareOfRandomPointsUnderIt) {
  const test::RandomSeed seed(11);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const std::size_t goals : {2U, 3U}) {
    std::vector<Goals> points(12, Goals(goals));
    for (auto& point : points) {
      std::generate(point.begin(), point.end(), [&] { return uniform(random); });
    }
    const int draws = 200000;
    int under = 0;
    for (int i = 0; i < draws; ++i) {
      Goals drawn(goals);
      std::generate(drawn.begin(), drawn.end(), [&] { return uniform(random); });
      under += std::any_of(points.begin(), points.end(), [&](const Goals& point) {
        return std::equal(point.begin(), point.end(), drawn.begin(),
                          [](double a, double b) { return a <= b; });
      });
    }
    EXPECT_NEAR(hypervolume(points, Goals(goals, 1.0)), static_cast<double>(under) / draws, 0.005);
    // What is beaten adds nothing.
    std::vector<Goals> front;
    for (const auto i : pareto_front(points)) {
      front.push_back(points[i]);
    }
    EXPECT_NEAR(hypervolume(front, Goals(goals, 1.0)), hypervolume(points, Goals(goals, 1.0)), 1e-12);
  }
}

}  // namespace
}  // namespace gnomon::tuner
