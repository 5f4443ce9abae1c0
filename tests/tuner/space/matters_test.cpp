#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>

#include "base/error.h"
#include "plan/rules.h"
#include "sim/predict.h"
#include "tests/random_seed.h"
#include "tests/sim/random_profiles.h"

namespace gnomon::tuner {
namespace {

using plan::Plan;

double random_value(const plan::Field& field, std::mt19937_64& random) {
  if (field.kind == plan::FieldKind::category) {
    return static_cast<double>(random() % field.names.size());
  }
  const double share = static_cast<double>(random() % 9) / 8;
  const double value = field.range.min + share * (std::min(field.range.max, 16.0) - field.range.min);
  return field.kind == plan::FieldKind::integer ? std::floor(value) : value;
}

Plan with_value(Plan plan, std::size_t position, double value) {
  auto values = plan::field_values(plan);
  values[position] = value;
  plan::set_field_values(plan, values);
  return plan;
}

/// The epoch of a plan, or nothing if it contradicts itself or asks for more than the profile has.
std::optional<double> epoch_of(const profiles::Profile& profile, const Plan& plan) {
  try {
    return sim::predict_quickly(profile, sim::resolve_on(profile, plan)).epoch_s;
  } catch (const base::InputError&) {
    return std::nullopt;
  }
}

/// A preset of which a few fields have random values.
Plan random_plan(const profiles::Profile& profile, std::mt19937_64& random) {
  const auto presets = test::random_presets(random, profile);
  Plan plan = presets[random() % presets.size()];
  for (int changes = static_cast<int>(random() % 4); changes > 0; --changes) {
    const auto position = random() % plan::rules().size();
    plan = with_value(plan, position, random_value(plan::rules()[position].field, random));
  }
  plan.exact = !plan::changes_training(plan);
  return plan;
}

/// What a field's row says against what the simulator computes: a plan whose field changes although it does
/// not matter has the same epoch.
TEST(Matters, FieldsThatDoNotMatterLeaveTheEpochAsItIs) {
  const test::RandomSeed seed(20);
  std::mt19937_64 random(seed);
  std::map<std::string, int> compared;
  for (int round = 0; round < 400; ++round) {
    const auto profile = test::random_profile(random, 24, 0);
    const auto plan = random_plan(profile, random);
    const auto epoch_s = epoch_of(profile, plan);
    if (!epoch_s) {
      continue;
    }
    const auto values = plan::field_values(plan);
    for (std::size_t position = 0; position < values.size(); ++position) {
      const auto& rule = plan::rules()[position];
      const double value = random_value(rule.field, random);
      if (value == values[position] || rule.matters(plan, profiles::cores_of(profile))) {
        continue;
      }
      if (const auto changed_s = epoch_of(profile, with_value(plan, position, value))) {
        // Sums in another order may differ in their last bits.
        EXPECT_TRUE(*changed_s == *epoch_s || std::abs(*changed_s - *epoch_s) <= 1e-9 * *epoch_s)
            << *changed_s << " instead of " << *epoch_s << " s with " << rule.field.path << " = "
            << value_text(rule.field, value) << " on \"" << base::name_of(profile.machine.device.kind)
            << "\": " << base::to_document(plan);
        ++compared[rule.field.path];
      }
    }
  }
  for (const char* path : {"cpu_buffer", "look_ahead", "switch_roles", "cpu_share", "cache.budget",
                           "embeddings.hot_ratio", "super_batch", "macro.passes", "devices"}) {
    EXPECT_GT(compared[path], 5) << path;
  }
}

}  // namespace
}  // namespace gnomon::tuner
