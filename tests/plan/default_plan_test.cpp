#include "plan/default_plan.h"

#include <gtest/gtest.h>

namespace gnomon::plan {
namespace {

TEST(DefaultPlan, DependsOnTheMachine) {
  EXPECT_EQ(default_plan({1, DeviceKind::host}).name, "device");
  EXPECT_EQ(default_plan({2, DeviceKind::host}).name, "device");
  EXPECT_EQ(default_plan({32, DeviceKind::host}).name, "gnomon");
  EXPECT_EQ(default_plan({2, DeviceKind::cuda}).name, "gnomon");
}

TEST(DefaultPlan, IsARunnablePresetThatTrainsTheSameBitsAsAllOthers) {
  for (const auto kind : {DeviceKind::host, DeviceKind::cuda}) {
    for (const int count : {1, 2, 4, 8, 64}) {
      const Cores cores{count, kind};
      const auto taken = default_plan(cores);
      const auto plan = resolve(find_plan(taken.name), cores, "plan");
      EXPECT_EQ(why_not_executed(plan, abilities_of(kind)), "");
      EXPECT_TRUE(trains_in_order(plan) && !changes_training(plan)) << taken.name;
      EXPECT_FALSE(taken.why.empty());
    }
  }
}

}  // namespace
}  // namespace gnomon::plan
