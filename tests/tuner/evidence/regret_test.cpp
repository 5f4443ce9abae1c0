#include "tuner/evidence/regret.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "profiles/beliefs.h"
#include "sim/predict.h"
#include "tests/fixtures/profiles.h"
#include "tests/random_seed.h"

namespace gnomon::tuner {
namespace {

double normal_below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// E[max(0, 1 - S)] of a log-normal S with this mean and standard deviation of its logarithm.
double expected_shortfall(double mean, double deviation) {
  const double d = -(std::log(mean) / deviation - deviation / 2);
  return normal_below(d) - mean * normal_below(d - deviation);
}

/// A plan of one second, and one of the same at the medians whose logarithm has this deviation.
Effects one_uncertain(double deviation) {
  return {.epoch_s = {1, 1}, .by_belief = {{{0, 0}, {-deviation, deviation}}}};
}

// The draws of RegretModel have a Monte Carlo error of a few percent.
TEST(RegretModel, OfTwoPlansIsThatOfTheClosedForm) {
  for (const double deviation : {0.05, 0.2, 0.5}) {
    const RegretModel model(one_uncertain(deviation));
    EXPECT_EQ(model.best(), 0U) << "the mean of a log-normal is above its median";
    const double regret_s = expected_shortfall(std::exp(deviation * deviation / 2), deviation);
    EXPECT_NEAR(model.regret_s(), regret_s, 0.06 * regret_s) << deviation;
    EXPECT_NEAR(model.expected_epoch_s(1), std::exp(deviation * deviation / 2), 0.03 * deviation);
  }
}

TEST(RegretModel, AMeasurementIsWorthWhatItIsExpectedToChange) {
  constexpr double deviation = 0.3;
  const RegretModel model(one_uncertain(deviation));
  const auto value_s = [&](double left) { return model.value_s(std::vector<Informed>{{0, left}}); };
  EXPECT_NEAR(value_s(0), model.regret_s(), 1e-9) << "one that leaves nothing uncertain";
  EXPECT_NEAR(value_s(1), 0, 1e-12) << "one that tells nothing";
  for (const double left : {0.3, 0.6, 0.9}) {
    const double told = deviation * std::sqrt(1 - left * left);
    const double expected_s = expected_shortfall(std::exp(deviation * deviation / 2), told);
    EXPECT_NEAR(value_s(left), expected_s, 0.1 * expected_s + 1e-4) << left;
  }
}

TEST(RegretModel, WhatAllPlansShareIsWorthNothing) {
  const Effects effects{.epoch_s = {1, 1.02}, .by_belief = {{{-0.3, 0.3}, {-0.3, 0.3}}}};
  const RegretModel model(effects);
  EXPECT_NEAR(model.regret_s(), 0, 1e-12);
  EXPECT_NEAR(model.value_s(std::vector<Informed>{{0, 0}}), 0, 1e-12);
}

// A brute-force simulation of both choices with draws of its own.
TEST(RegretModel, OfManyPlansIsThatOfASimulation) {
  const test::RandomSeed seed(20261129);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  Effects effects;
  constexpr std::size_t plans = 6;
  constexpr std::size_t beliefs = 4;
  for (std::size_t plan = 0; plan < plans; ++plan) {
    effects.epoch_s.push_back(1 + 0.1 * uniform(random));
  }
  for (std::size_t belief = 0; belief < beliefs; ++belief) {
    auto& changes = effects.by_belief.emplace_back();
    for (std::size_t plan = 0; plan < plans; ++plan) {
      const double slope = 0.2 * (uniform(random) - 0.5);
      changes.push_back({-slope, slope});
    }
  }
  const RegretModel model(effects);
  constexpr int draws = 200'000;
  double regret_s = 0;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<double> seconds = effects.epoch_s;
    for (std::size_t belief = 0; belief < beliefs; ++belief) {
      const double z = normal(random);
      for (std::size_t plan = 0; plan < plans; ++plan) {
        seconds[plan] *= std::exp(z * effects.by_belief[belief][plan].above);
      }
    }
    regret_s += (seconds[model.best()] - *std::ranges::min_element(seconds)) / draws;
  }
  EXPECT_NEAR(model.regret_s(), regret_s, 0.15 * regret_s);
}

profiles::Profile host_with_beliefs() {
  auto profile = test::profile_of(profiles::DeviceKind::host, 2, 30, {0.02, 0, 0.01, 0.03});
  profiles::add_beliefs(profile);
  return profile;
}

TEST(EffectsOf, AreThoseOfPredictionsWithOtherNumbers) {
  const auto profile = host_with_beliefs();
  const auto device = plan::resolve(plan::find_plan("device"), profiles::cores_of(profile), "device");
  const auto effects = effects_of(profile, {device});
  ASSERT_EQ(effects.by_belief.size(), profile.beliefs.size());
  const auto quantities = profiles::quantities_of(profile);
  bool threads_matter = false;
  for (std::size_t i = 0; i < profile.beliefs.size(); ++i) {
    const auto& belief = profile.beliefs[i];
    const auto quantity = std::ranges::find(quantities, belief.of, &profiles::Quantity::name);
    ASSERT_NE(quantity, quantities.end()) << belief.of;
    auto changed = profile;
    quantity->of(changed) *= std::exp(belief.deviation);
    const double ratio =
        sim::predict_quickly(changed, device).epoch_s / sim::predict_quickly(profile, device).epoch_s;
    EXPECT_NEAR(effects.by_belief[i][0].above, std::log(ratio), 1e-9) << belief.of;
    threads_matter |= belief.of == "train_speedup@2" && effects.by_belief[i][0].above < -0.1;
  }
  EXPECT_TRUE(threads_matter) << "the plan trains on both cores";
}

}  // namespace
}  // namespace gnomon::tuner
