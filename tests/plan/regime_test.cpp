#include "plan/regime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gnomon::plan {
namespace {

using ::testing::SizeIs;

Plan plan_with(Route route, int workers, int device_threads) {
  Plan plan;
  plan.route = route;
  plan.workers = workers;
  plan.device_threads = device_threads;
  return plan;
}

TEST(Regime, ThreadsWithoutACoreCrowd) {
  const Cores four{4, DeviceKind::host, 1};
  EXPECT_EQ(threads_without_core(plan_with(Route::cpu, 3, 1), four), 0);
  EXPECT_EQ(threads_without_core(plan_with(Route::cpu, 4, 2), four), 2);
  EXPECT_FALSE(regime_of(plan_with(Route::cpu, 3, 1), four).is_crowded);
  EXPECT_TRUE(regime_of(plan_with(Route::cpu, 4, 2), four).is_crowded);
  EXPECT_TRUE(regime_of(plan_with(Route::cpu, 2, 2), four).trains_on_threads);
}

TEST(Regime, AGpusThreadsTakeNoCores) {
  const Cores four{4, DeviceKind::cuda, 1};
  const auto regime = regime_of(plan_with(Route::both, 4, 4), four);
  EXPECT_EQ(regime, (Regime{Route::both, false, false}));
}

TEST(Regime, AllAreDifferent) {
  auto regimes = all_regimes();
  ASSERT_THAT(regimes, SizeIs(12));
  for (const auto& regime : regimes) {
    EXPECT_EQ(std::count(regimes.begin(), regimes.end(), regime), 1);
  }
}

}  // namespace
}  // namespace gnomon::plan
