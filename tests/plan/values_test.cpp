#include "plan/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gnomon::plan {
namespace {

using testing::ElementsAre;

TEST(ValuesToTry, Workers) {
  EXPECT_THAT(worker_choices(1), ElementsAre(1));
  EXPECT_THAT(worker_choices(4), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(worker_choices(20), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20));
}

TEST(ValuesToTry, DeviceThreads) {
  EXPECT_THAT(thread_choices({1}), ElementsAre(1));
  EXPECT_THAT(thread_choices({6}), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(thread_choices({8}), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(thread_choices({8, DeviceKind::cuda}), ElementsAre(1));
}

TEST(ValuesToTry, NumbersStepThroughTheirRanges) {
  const Cores cores{8, DeviceKind::cuda, 4};
  const auto values = [&](const char* path) { return values_to_try(rule_of(path), cores, 20); };
  EXPECT_THAT(values("cpu_buffer"), ElementsAre(1, 2, 3, 4, 6, 8, 12, 16));
  EXPECT_THAT(values("look_ahead"), ElementsAre(0, 1, 2, 3, 4, 6, 8, 12, 16));
  EXPECT_THAT(values("macro.resident"), ElementsAre(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64));
  EXPECT_THAT(values("workers"), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(values("worker_threads"), ElementsAre(1));
  EXPECT_THAT(values("devices"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values("samplers"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values("prepare_share"), ElementsAre(0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9));
  EXPECT_THAT(values("bias"), ElementsAre(1, 2, 4, 8, 16, 32, 64));
}

TEST(ValuesToTry, CategoriesWithoutBaselines) {
  const auto values = [](const char* path, int devices) {
    const auto& rule = rule_of(path);
    std::vector<std::string> names;
    for (const double value : values_to_try(rule, {4, DeviceKind::cuda, devices}, 10)) {
      names.push_back(value_text(rule.field, value));
    }
    return names;
  };
  EXPECT_THAT(values("cache.policy", 1),
              ElementsAre("none", "out_degree", "presample", "value_weight", "recent"));
  EXPECT_THAT(values("cache.sharded", 1), ElementsAre("false", "true"));
  const auto has_factored = [&](int devices) {
    const auto schedules = values("schedule", devices);
    return std::find(schedules.begin(), schedules.end(), "factored") != schedules.end();
  };
  EXPECT_FALSE(has_factored(1));
  EXPECT_TRUE(has_factored(2));
}

TEST(ValuesToTry, AreAscendingAndInRange) {
  for (const auto& rule : rules()) {
    for (const int cores : {1, 3, 64}) {
      for (const auto device : {DeviceKind::host, DeviceKind::cuda}) {
        const auto values = values_to_try(rule, {cores, device, 2}, 50);
        ASSERT_FALSE(values.empty()) << rule.field.path;
        EXPECT_TRUE(std::is_sorted(values.begin(), values.end(), std::less_equal<>())) << rule.field.path;
        EXPECT_GE(values.front(), rule.field.kind == FieldKind::category ? 0 : rule.field.range.min);
        EXPECT_LE(values.back(), rule.field.kind == FieldKind::category
                                     ? static_cast<double>(rule.field.names.size() - 1)
                                     : rule.field.range.max);
      }
    }
  }
}

}  // namespace
}  // namespace gnomon::plan
