#include "plan/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "base/error.h"
#include "tests/random_seed.h"

namespace gnomon::plan {
namespace {

template <class Items>
std::vector<std::string> paths(const Items& items) {
  std::vector<std::string> found;
  for (const auto& item : items) {
    if constexpr (requires { item.field; }) {
      found.push_back(item.field.path);
    } else {
      found.push_back(item.path);
    }
  }
  return found;
}

TEST(Rules, EveryFieldHasOneRow) {
  EXPECT_EQ(paths(rules()), paths(plan_fields()))
      << "a row of plan/rules.cpp is missing, doubled or misplaced";
  for (const auto& rule : rules()) {
    EXPECT_EQ(&rule_of(rule.field.path), &rule);
    EXPECT_NE(rule.matters, nullptr) << rule.field.path;
  }
  EXPECT_THROW(rule_of("cache.polcy"), std::out_of_range);
}

TEST(Rules, DefaultsBreakNone) {
  EXPECT_TRUE(violations(Plan{}).empty());
  for (const auto& preset : presets()) {
    EXPECT_TRUE(violations(preset).empty()) << preset.name;
  }
}

TEST(Rules, DefaultsAreExecutedByEveryDevice) {
  EXPECT_EQ(why_not_executed(Plan{}, Abilities{}), "");
  for (const auto& rule : rules()) {
    for (const auto& need : rule.needs) {
      EXPECT_FALSE(need.applies(Plan{})) << rule.field.path;
    }
  }
}

TEST(Rules, CategoriesThatDecideAreCategories) {
  for (const auto& rule : rules()) {
    const bool is_category = rule.field.kind == FieldKind::category;
    EXPECT_TRUE(is_category || !rule.search.decides) << rule.field.path;
    EXPECT_TRUE(is_category || rule.search.leaves_out == nullptr) << rule.field.path;
    EXPECT_TRUE(!is_category || !rule.search.above_zero) << rule.field.path;
  }
}

Plan random_plan(std::mt19937_64& random) {
  static const auto all = presets();
  const auto fields = plan_fields();
  Plan plan = all[random() % all.size()];
  auto values = field_values(plan);
  for (auto changes = random() % 5; changes > 0; --changes) {
    const auto i = random() % fields.size();
    const auto& field = fields[i];
    if (field.kind == FieldKind::category) {
      values[i] = static_cast<double>(random() % field.names.size());
    } else {
      const double share = static_cast<double>(random() % 5) / 4;
      values[i] = field.range.min + share * (std::min(field.range.max, 8.0) - field.range.min);
      values[i] = field.kind == FieldKind::integer ? std::floor(values[i]) : values[i];
    }
  }
  set_field_values(plan, values);
  return plan;
}

TEST(Rules, EachOneNamesAFieldThatIsNotAtItsDefault) {
  const test::RandomSeed seed(16);
  std::mt19937_64 random(seed);
  int refused = 0;
  int broken = 0;
  for (int i = 0; i < 5000; ++i) {
    const Plan plan = random_plan(random);
    const auto document = base::to_document(plan).dump();
    if (const auto why = why_not_executed(plan, Abilities{}); !why.empty()) {
      ++refused;
      const auto path = why.substr(0, why.find(' '));
      const auto& rule = rule_of(path);
      const auto position = static_cast<std::size_t>(&rule - rules().data());
      EXPECT_NE(field_values(plan)[position], field_values(Plan{})[position]) << why << ", " << document;
    }
    if (const auto all = violations(plan); !all.empty()) {
      ++broken;
      try {
        check(plan, "p.json");
        ADD_FAILURE() << document;
      } catch (const base::InputError& error) {
        EXPECT_EQ(error.what(), "p.json: " + all.front().path + ": " + all.front().message);
      }
    } else {
      EXPECT_NO_THROW(check(plan, "p.json")) << document;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(broken, 1000);
}

TEST(Rules, WhatMattersDependsOnTheRest) {
  const Cores host_cores{4};
  const Cores gpu_cores{4, DeviceKind::cuda, 2};
  const auto matters = [](const char* path, const Plan& plan, const Cores& cores) {
    return rule_of(path).matters(plan, cores);
  };
  const Plan sequential;
  Plan pipelined;
  pipelined.schedule = Schedule::pipelined;
  EXPECT_FALSE(matters("cpu_buffer", sequential, host_cores));
  EXPECT_TRUE(matters("cpu_buffer", pipelined, host_cores));
  EXPECT_FALSE(matters("look_ahead", pipelined, host_cores));
  EXPECT_TRUE(matters("look_ahead", find_plan("gnomon"), host_cores));
  EXPECT_TRUE(matters("device_threads", sequential, host_cores));
  EXPECT_FALSE(matters("device_threads", sequential, gpu_cores));
  EXPECT_TRUE(matters("topology", sequential, host_cores)) << "it may lie on a disk";
  EXPECT_TRUE(is_searched(rule_of("topology"), sequential, host_cores));
  EXPECT_TRUE(is_searched(rule_of("features"), sequential, host_cores));
  EXPECT_FALSE(is_searched(rule_of("topology"), find_plan("device"), host_cores))
      << "only CPU workers read disks";
  EXPECT_TRUE(is_searched(rule_of("topology"), sequential, gpu_cores));
  EXPECT_FALSE(matters("cache.budget", sequential, gpu_cores));
  EXPECT_TRUE(matters("cache.budget", find_plan("sota"), gpu_cores));
  EXPECT_FALSE(matters("devices", sequential, host_cores));
  EXPECT_TRUE(matters("devices", sequential, gpu_cores));
  EXPECT_FALSE(matters("macro.passes", pipelined, gpu_cores));
  EXPECT_TRUE(matters("macro.passes", find_plan("hanoi"), gpu_cores));
  EXPECT_TRUE(matters("macro.fanout_factor", find_plan("joestar-1"), host_cores));
  EXPECT_FALSE(matters("macro.fanout_factor", find_plan("joestar-2"), host_cores)) << "its lists are whole";
  EXPECT_FALSE(matters("macro.fanout_factor", find_plan("hanoi"), host_cores));
  // Worker processes copy, but no search asks for more copies.
  EXPECT_TRUE(matters("handover_copies", pipelined, host_cores));
  EXPECT_FALSE(is_searched(rule_of("handover_copies"), pipelined, host_cores));
  EXPECT_TRUE(is_searched(rule_of("workers"), pipelined, host_cores));
}

TEST(Rules, MachinesLimitWhatTheyHave) {
  const auto exceeds = [](const char* path, const Plan& plan, const Cores& cores) {
    return rule_of(path).exceeds(plan, cores);
  };
  Plan plan = find_plan("salient");
  plan.workers = 5;
  EXPECT_EQ(exceeds("workers", plan, {4}), "5 is more than this machine's 4 cores");
  EXPECT_EQ(exceeds("workers", plan, {5}), "");
  plan.device_threads = 6;
  EXPECT_EQ(exceeds("device_threads", plan, {5}), "6 is more than this machine's 5 cores");
  plan.devices = 3;
  EXPECT_EQ(exceeds("devices", plan, {8, DeviceKind::cuda, 2}), "3 is more than this machine's 2");
}

}  // namespace
}  // namespace gnomon::plan
