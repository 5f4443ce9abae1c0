#include "sim/quick.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/predict.h"
#include "tests/random_seed.h"
#include "tests/sim/random_profiles.h"

namespace gnomon::sim {
namespace {

struct Case {
  plan::Plan plan;
  MachineModel model;
};

/// A preset, changed at random, on a random machine that it fits on.
Case random_case(std::mt19937_64& random) {
  while (true) {
    const auto profile = test::random_profile(random, 1200, 0);
    const auto plans = test::random_presets(random, profile);
    const auto plan = resolve_on(profile, plans[random() % plans.size()]);
    if (predict_quickly(profile, plan).memory.shortage == Shortage::none) {
      return {plan, machine_model(profile, plan, false, 0)};
    }
  }
}

TEST(Quick, ArithmeticAgreesWithSimGrid) {
  // Epochs too short for a period: the same dates, but for the order of what ends within rounding.
  const test::RandomSeed seed(577215);
  std::mt19937_64 random(seed);
  Simulator simulator;
  for (int round = 0; round < 500; ++round) {
    Case given = random_case(random);
    if (round % 2 == 0) {
      test::add_slowdowns_by_workers(random, given.model.contention);
    }
    SCOPED_TRACE("round " + std::to_string(round) + " " + given.plan.name);
    const std::int64_t batches = 1 + static_cast<std::int64_t>(random() % 48);
    const auto quick = run_quickly(given.plan, given.model, batches);
    const auto full = simulator.run(given.plan, given.model, batches, false);
    EXPECT_NEAR(quick.epoch_s, full.epoch_s, 1e-6 * full.epoch_s);
    EXPECT_NEAR(quick.link_utilisation, full.link_utilisation, 1e-6);
    EXPECT_EQ(quick.cpu_batches, full.cpu_batches);
    EXPECT_EQ(quick.bound_by, full.bound_by);
  }
}

// Some schedules of several devices hang on which of two stages that end at one date is seen first, which
// rounding decides, and some that read the disk settle after a period was seen; their epochs may differ by up
// to 5 %. Such plans are rare: seven among 5,000 that are drawn bound their share, at 97.5 % confidence, by
// 14.4 / 5,000 (Poisson), fewer than one plan in 300.
TEST(Quick, DiffersByMoreThanAThousandthInFewerThanOnePlanOf300) {
  constexpr int plans_a_seed = 1000;
  constexpr int most_misses = 7;
  int misses = 0;
  Simulator simulator;
  for (std::uint64_t usual = 577216; usual < 577216 + 5; ++usual) {
    const test::RandomSeed seed(usual);
    std::mt19937_64 random(seed);
    for (int round = 0; round < plans_a_seed; ++round) {
      const Case given = random_case(random);
      SCOPED_TRACE("round " + std::to_string(round) + " " + given.plan.name);
      const auto quick = run_quickly(given.plan, given.model, 1200);
      const auto full = simulator.run(given.plan, given.model, 1200, false);
      misses += std::abs(quick.epoch_s - full.epoch_s) > 1e-3 * full.epoch_s;
      EXPECT_NEAR(quick.epoch_s, full.epoch_s, 5e-2 * full.epoch_s);
      EXPECT_NEAR(quick.device_utilisation, full.device_utilisation, 0.03);
      EXPECT_NEAR(quick.cpu_utilisation, full.cpu_utilisation,
                  0.03);  // groups' first ones meet no neighbours
      EXPECT_NEAR(quick.link_utilisation, full.link_utilisation, 0.01);
      EXPECT_NEAR(static_cast<double>(quick.cpu_batches), static_cast<double>(full.cpu_batches), 12);
      EXPECT_EQ(quick.lower_bound_s, full.lower_bound_s);
    }
  }
  EXPECT_LE(misses, most_misses);
}

}  // namespace
}  // namespace gnomon::sim
