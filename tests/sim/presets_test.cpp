#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

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

/// The profile with slowdowns between these, whatever it had.
profiles::Profile with_slowdowns(std::mt19937_64& random, profiles::Profile profile, double least,
                                 double most) {
  std::uniform_real_distribution<double> between(least, most);
  const auto draw = [&](const char*, std::optional<double>& slowdown, base::Range) {
    slowdown = between(random);
  };
  profiles::Contention::fields(profile.machine.contention, draw);
  return profile;
}

/// Every preset with random buffers, workers, devices and threads.
std::vector<plan::Plan> presets_with_threads(std::mt19937_64& random, const profiles::Profile& profile) {
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  const int cores = profile.machine.cpu.cores;
  auto plans = test::random_presets(random, profile);
  for (auto& plan : plans) {
    plan.device_threads = profile.machine.device.kind == profiles::DeviceKind::host ? up_to(cores) : 1;
    plan.worker_threads = plan.uses_workers() ? up_to(std::max(1, cores / std::max(1, plan.workers))) : 1;
  }
  return plans;
}

TEST(Presets, AreNotUnderTheirLowerBoundWhateverNeighboursGain) {
  const test::RandomSeed seed(271831);
  std::mt19937_64 random(seed);
  Simulator simulator;
  for (int round = 0; round < 120; ++round) {
    const std::int64_t batches = 1 + static_cast<std::int64_t>(random() % 60);
    const auto profile =
        with_slowdowns(random, test::random_profile(random, batches, round % 2 == 0 ? 0 : 0.3), 0.4, 1.5);
    for (const auto& plan : presets_with_threads(random, profile)) {
      SCOPED_TRACE("round " + std::to_string(round) + " " + plan.name);
      const auto prediction = predict(simulator, profile, plan);
      if (prediction.memory.shortage == Shortage::none) {
        expect_possible(prediction);
      }
    }
  }
}

/// Whether the plan's threads ever want more cores than there are.
bool is_crowded(const profiles::Profile& profile, const plan::Plan& plan) {
  const bool on_cores = profile.machine.device.kind == profiles::DeviceKind::host;
  const int copies = on_cores && plan.uses_cpu_route() ? 1 : 0;
  const int lanes = !on_cores ? 0 : plan.prepares_beside_training() ? 2 : 1;
  return plan.workers * plan.worker_threads + copies + lanes * plan.device_threads >
         profile.machine.cpu.cores;
}

// Factors below 1 change nothing where nothing is crowded: the bound is that of a machine without contention,
// and a sequential plan, which nothing runs beside, takes what its stages take alone.
TEST(Presets, BoundsOfPlansThatAreNeverCrowdedAreTight) {
  const test::RandomSeed seed(271830);
  std::mt19937_64 random(seed);
  Simulator simulator;
  int sequential = 0;
  int uncrowded = 0;
  for (int round = 0; round < 80; ++round) {
    const auto profile = with_slowdowns(random, test::random_profile(random, 40, 0), 0.5, 0.99);
    auto calm = profile;
    calm.machine.contention = {};
    for (const auto& plan : presets_with_threads(random, profile)) {
      SCOPED_TRACE("round " + std::to_string(round) + " " + plan.name);
      const auto prediction = predict(simulator, profile, plan);
      if (prediction.memory.shortage != Shortage::none || is_crowded(profile, plan)) {
        continue;
      }
      ++uncrowded;
      EXPECT_DOUBLE_EQ(prediction.lower_bound_s, predict(simulator, calm, plan).lower_bound_s);
      if (plan.schedule == plan::Schedule::sequential && plan.route == plan::Route::device &&
          plan.devices == 1) {
        EXPECT_NEAR(prediction.epoch_s, prediction.lower_bound_s, 1e-9 * prediction.epoch_s);
        ++sequential;
      }
    }
  }
  EXPECT_GT(uncrowded, 80 * 8);
  EXPECT_GT(sequential, 100);
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
