#include "tuner/models/boosted_trees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "base/error.h"
#include "tests/random_seed.h"

namespace gnomon::tuner {
namespace {

struct Data {
  std::vector<std::vector<double>> rows;
  std::vector<double> values;
};

/// A step in the first column, a slope in the second one; the third is noise.
Data random_data(std::mt19937_64& random, int count) {
  std::uniform_real_distribution<double> uniform(0, 1);
  Data data;
  for (int i = 0; i < count; ++i) {
    data.rows.push_back({uniform(random), uniform(random), uniform(random)});
    data.values.push_back((data.rows.back()[0] > 0.5 ? 3.0 : 0.0) + data.rows.back()[1]);
  }
  return data;
}

TEST(BoostedTrees, LearnAndSayWhatMatters) {
  const test::RandomSeed seed(3);
  std::mt19937_64 random(seed);
  const auto known = random_data(random, 300);
  const auto held_out = random_data(random, 100);
  const BoostedTrees trees(known.rows, known.values, {});
  const auto found = trees.at(held_out.rows);
  double error = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    error += std::pow(found[i].mean - held_out.values[i], 2) / 100;
    EXPECT_GE(found[i].variance, 0);
  }
  EXPECT_LT(error, 0.05);  // the values' own variance is 2.3
  const auto importance = trees.importance();
  EXPECT_NEAR(importance[0] + importance[1] + importance[2], 1, 1e-9);
  EXPECT_GT(importance[0], 0.8);
  EXPECT_GT(importance[1], 2 * importance[2]);
}

TEST(BoostedTrees, AreTheSameForTheSameSeed) {
  const test::RandomSeed seed(3);
  std::mt19937_64 random(seed);
  const auto known = random_data(random, 50);
  const auto values = [&](std::uint64_t own) {
    return BoostedTrees(known.rows, known.values, {.seed = own}).at(known.rows).front().mean;
  };
  EXPECT_EQ(values(1), values(1));
  EXPECT_NE(values(1), values(2));
}

TEST(BoostedTrees, TakeValuesThatDoNotApply) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Data data;
  for (int i = 0; i < 40; ++i) {
    data.rows.push_back({i % 2 == 0 ? none : 0.5 + i / 100.0});
    data.values.push_back(i % 2 == 0 ? 1 : 5);
  }
  const BoostedTrees trees(data.rows, data.values, {});
  EXPECT_NEAR(trees.at({{none}}).front().mean, 1, 0.1);
  EXPECT_NEAR(trees.at({{0.6}}).front().mean, 5, 0.1);
}

TEST(BoostedTrees, GoRoundTripThroughText) {
  const test::RandomSeed seed(3);
  std::mt19937_64 random(seed);
  const auto known = random_data(random, 50);
  const BoostedTrees trees(known.rows, known.values, {.members = 3});
  const auto texts = trees.save();
  ASSERT_EQ(texts.size(), 3U);
  const auto loaded = BoostedTrees::load(texts, 3);
  const auto before = trees.at(known.rows);
  const auto after = loaded.at(known.rows);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].mean, after[i].mean);
  }
  EXPECT_EQ(loaded.importance(), trees.importance());
  EXPECT_THROW(BoostedTrees::load({"{}"}, 3), base::InputError);
}

}  // namespace
}  // namespace gnomon::tuner
