#include "tuner/models/actor_critic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "tests/random_seed.h"

namespace gnomon::tuner {
namespace {

constexpr std::uint64_t weights_seed = 31;
constexpr std::size_t inputs = 4;

/// A category, a short number, a long number (of more choices than cosines), and one that cannot be chosen.
const std::vector<PolicyField> fields = {{3, false}, {4, true}, {9, true}, {1, true}};

ActorCritic random_policy(std::mt19937_64& random) {
  ActorCritic policy(inputs, fields, 6, weights_seed);
  std::normal_distribution<double> normal(0, 0.5);
  auto parameters = policy.parameters();
  for (double& parameter : parameters) {
    parameter += normal(random);
  }
  policy.set_parameters(std::move(parameters));
  return policy;
}

std::vector<double> random_state(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<double> state(inputs);
  for (double& value : state) {
    value = uniform(random);
  }
  return state;
}

/// Decisions of every field, whose probabilities were others than they are now.
std::vector<Decision> random_decisions(std::mt19937_64& random, std::size_t count) {
  std::normal_distribution<double> normal(0, 1);
  std::vector<Decision> decisions;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t field = i % fields.size();
    Allowed allowed;
    for (int choice = 0; std::cmp_less(choice, fields[field].choices); ++choice) {
      if (random() % 3 != 0 || std::cmp_equal(choice, fields[field].choices - 1)) {
        allowed.choices.push_back(choice);
        allowed.logs.push_back(normal(random));
      }
    }
    const auto taken = static_cast<std::size_t>(random() % allowed.choices.size());
    decisions.push_back({random_state(random), field, allowed, taken,
                         -std::log(static_cast<double>(allowed.choices.size())) + 0.4 * normal(random),
                         normal(random), normal(random)});
  }
  return decisions;
}

TEST(ActorCritic, GradientIsThatOfFiniteDifferences) {
  const test::RandomSeed seed(31);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 5; ++round) {
    ActorCritic policy = random_policy(random);
    const auto decisions = random_decisions(random, 30);
    const PolicyTerms terms{.clip = 0.2, .value_weight = 0.7, .entropy_weight = 0.3};
    const auto parameters = policy.parameters();
    const auto gradient = policy.loss(decisions, terms).gradient;
    ASSERT_EQ(gradient.size(), parameters.size());
    const auto loss_with = [&](std::size_t p, double step) {
      auto moved = parameters;
      moved[p] += step;
      policy.set_parameters(moved);
      return policy.loss(decisions, terms).value;
    };
    double largest = 0;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      const double difference = (loss_with(p, 1e-6) - loss_with(p, -1e-6)) / 2e-6;
      EXPECT_NEAR(gradient[p], difference, 1e-7) << p;
      largest = std::max(largest, std::abs(difference));
    }
    EXPECT_GT(largest, 1e-3);
  }
}

/// The formula of the header, from the policy's own probabilities and values.
TEST(ActorCritic, LossIsThatOfTheFormula) {
  const test::RandomSeed seed(31);
  std::mt19937_64 random(seed);
  const ActorCritic policy = random_policy(random);
  const auto decisions = random_decisions(random, 40);
  const PolicyTerms terms{.clip = 0.1, .value_weight = 0.5, .entropy_weight = 0.2};
  double expected = 0;
  int clipped = 0;
  for (const auto& d : decisions) {
    const auto p = policy.probabilities(d.state, d.field, d.allowed);
    const double ratio = p[d.taken] / std::exp(d.log_probability);
    const double bounded = std::min(std::max(ratio, 0.9), 1.1);
    clipped += bounded * d.advantage < ratio * d.advantage;
    double entropy = 0;
    for (const double probability : p) {
      entropy -= probability * std::log(probability);
    }
    entropy /= p.size() > 1 ? std::log(static_cast<double>(p.size())) : 1;
    expected += -std::min(ratio * d.advantage, bounded * d.advantage) +
                0.5 * std::pow(policy.value(d.state, d.field) - d.goal, 2) - 0.2 * entropy;
  }
  EXPECT_GT(clipped, 0);
  EXPECT_LT(clipped, 40);
  EXPECT_NEAR(policy.loss(decisions, terms).value, expected / 40, 1e-12);
}

TEST(ActorCritic, BeginsWithTheChancesThatChoicesHave) {
  const test::RandomSeed seed(31);
  std::mt19937_64 random(seed);
  const ActorCritic policy(inputs, fields, 6, weights_seed);
  const auto found =
      policy.probabilities(random_state(random), 2, {{1, 4, 8}, {0, std::log(6), std::log(3)}});
  EXPECT_NEAR(found[0], 0.1, 1e-12);
  EXPECT_NEAR(found[1], 0.6, 1e-12);
  EXPECT_NEAR(found[2], 0.3, 1e-12);
  EXPECT_EQ(policy.probabilities(random_state(random), 0, {{2}, {7}}), std::vector<double>{1});
  EXPECT_EQ(policy.value(random_state(random), 2), 0);
}

TEST(ActorCritic, ChancesOfTheAllowedAreThoseOfAllInProportion) {
  const test::RandomSeed seed(31);
  std::mt19937_64 random(seed);
  const ActorCritic policy = random_policy(random);
  const auto state = random_state(random);
  const std::vector<double> even(9);
  const auto all = policy.probabilities(state, 2, {{0, 1, 2, 3, 4, 5, 6, 7, 8}, even});
  EXPECT_NEAR(std::accumulate(all.begin(), all.end(), 0.0), 1, 1e-12);
  const auto some = policy.probabilities(state, 2, {{1, 4, 8}, {0, 0, 0}});
  const double sum = all[1] + all[4] + all[8];
  EXPECT_NEAR(some[0], all[1] / sum, 1e-12);
  EXPECT_NEAR(some[1], all[4] / sum, 1e-12);
  EXPECT_NEAR(some[2], all[8] / sum, 1e-12);
}

/// What is best of one field depends on the state, of the other on its place in an order.
TEST(ActorCritic, PolicyConcentratesOnTheBestChoices) {
  const test::RandomSeed seed(31);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  ActorCritic policy(inputs, fields, 6, weights_seed);
  const std::vector<std::vector<double>> states = {{1, 0, 0, 0}, {0, 1, 0, 0}};
  const std::vector<Allowed> allowed = {{{0, 1, 2}, {0, 0, 0}}, {{}, {}}, {{0, 1, 2, 3, 4, 6, 7, 8}, {}}};
  const auto of = [&](std::size_t field) {
    Allowed all = allowed[field];
    all.logs.assign(all.choices.size(), 0);
    return all;
  };
  const auto reward = [&](std::size_t state, std::size_t field, int choice) {
    return field == 0 ? (choice == (state == 0 ? 2 : 0) ? 1.0 : 0.0) : -0.3 * std::abs(choice - 6);
  };
  for (int round = 0; round < 150; ++round) {
    std::vector<Decision> decisions;
    for (int i = 0; i < 32; ++i) {
      const std::size_t state = random() % 2;
      const std::size_t field = random() % 2 * 2;
      const auto chances = policy.probabilities(states[state], field, of(field));
      std::size_t taken = 0;
      for (double rest = uniform(random); taken + 1 < chances.size() && rest >= chances[taken]; ++taken) {
        rest -= chances[taken];
      }
      const double goal = reward(state, field, of(field).choices[taken]);
      decisions.push_back({states[state], field, of(field), taken, std::log(chances[taken]),
                           goal - policy.value(states[state], field), goal});
    }
    for (int pass = 0; pass < 8; ++pass) {
      auto parameters = policy.parameters();
      const auto gradient = policy.loss(decisions, {}).gradient;
      for (std::size_t p = 0; p < parameters.size(); ++p) {
        parameters[p] -= 0.3 * gradient[p];
      }
      policy.set_parameters(std::move(parameters));
    }
  }
  EXPECT_GT(policy.probabilities(states[0], 0, of(0))[2], 0.9);
  EXPECT_GT(policy.probabilities(states[1], 0, of(0))[0], 0.9);
  EXPECT_GT(policy.probabilities(states[0], 2, of(2))[5], 0.5);
  EXPECT_NEAR(policy.value(states[0], 0), 1, 0.2);
}

}  // namespace
}  // namespace gnomon::tuner
