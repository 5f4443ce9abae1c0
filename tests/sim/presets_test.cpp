#include <gtest/gtest.h>

#include <cmath>

#include "sim/predict.h"
#include "sim/prediction.h"
#include "tests/random_seed.h"
#include "tests/sim/random_profiles.h"

namespace gnomon::sim {
namespace {

/// Nothing can be busy for longer than there is time.
void expect_possible(const Prediction& prediction) {
  EXPECT_GT(prediction.lower_bound_s, 0);
  EXPECT_GE(prediction.epoch_s, prediction.lower_bound_s * (1 - 1e-9));
  for (const double share : {prediction.cpu_utilisation, prediction.device_utilisation,
                             prediction.disk_utilisation, prediction.reduce_utilisation}) {
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1 + 1e-9);
  }
}

TEST(Presets, AreNeverUnderTheirLowerBound) {
  const test::RandomSeed seed(271828);
  std::mt19937_64 random(seed);
  Simulator simulator;
  int possible = 0;
  for (int round = 0; round < 120; ++round) {
    const std::int64_t batches = 1 + static_cast<std::int64_t>(random() % 60);
    const auto profile = test::random_profile(random, batches, round % 2 == 0 ? 0 : 0.3);
    for (const auto& plan : test::random_presets(random, profile)) {
      SCOPED_TRACE("round " + std::to_string(round) + " " + plan.name);
      const auto prediction = predict(simulator, profile, plan);
      if (prediction.memory.shortage == Shortage::none) {
        expect_possible(prediction);
        ++possible;
      }
    }
  }
  EXPECT_GT(possible, 120 * 25);  // of 28: some do not fit with their topology on the device
}

TEST(Presets, PredictionsAreTheSameBytesAgain) {
  const test::RandomSeed seed(271829);
  std::mt19937_64 random(seed);
  Simulator simulator;
  for (int round = 0; round < 10; ++round) {
    const auto profile = test::random_profile(random, 40, 0.2);
    for (const auto& plan : test::random_presets(random, profile)) {
      const auto once = predict(simulator, profile, plan);
      const auto again = predict(simulator, profile, plan);
      EXPECT_EQ(once.epoch_s, again.epoch_s) << plan.name;
      EXPECT_EQ(once.device_utilisation, again.device_utilisation) << plan.name;
    }
  }
}

}  // namespace
}  // namespace gnomon::sim
