#include "profiles/measure/contention.h"

#include <gtest/gtest.h>

namespace gnomon::profiles {
namespace {

// A third thread on two cores: a fair share makes each take 1.5 times as long.
TEST(BeyondFairShare, ByHand) {
  EXPECT_DOUBLE_EQ(beyond_fair_share(1.5, 1.0, 2).value(), 1);
  EXPECT_DOUBLE_EQ(beyond_fair_share(3.0, std::nullopt, 2).value(), 2);
  EXPECT_DOUBLE_EQ(beyond_fair_share(3.0, 1.25, 2).value(), 1.6);
  EXPECT_DOUBLE_EQ(beyond_fair_share(1.0, 1.0, 1).value(), 0.5);
  EXPECT_DOUBLE_EQ(beyond_fair_share(1.0, 4.0, 1).value(), 0.5) << "the minimum";
}

TEST(BeyondFairShare, IsUnknownWhereNothingWasMeasured) {
  EXPECT_EQ(beyond_fair_share(std::nullopt, 1.1, 2), std::nullopt);
}

TEST(ContentionOf, HasWhatWasMeasured) {
  Measured measured;
  EXPECT_EQ(base::write_value(contention_of(measured, {}, 2, DeviceKind::emulated)), base::Json::object());
  for (const double slowdown : {1.2, 9.0, 1.1}) {
    measured.train_beside_cpu_batch.add(slowdown);
    measured.team_beside_cpu_batch.add(2 * slowdown);
    measured.train_beside_device_batch.add(slowdown);
  }
  const Contention contention = contention_of(measured, {}, 2, DeviceKind::emulated);
  EXPECT_EQ(contention.train_beside_cpu_batch, 1.2) << "the median";
  EXPECT_EQ(contention.train_beside_device_batch, 1.2) << "as it was measured";
  EXPECT_DOUBLE_EQ(contention.crowded_team.value(), 2.4 / 1.5 / 1.2);
  EXPECT_EQ(contention.beside_crowded_team, std::nullopt);
  EXPECT_EQ(contention.cpu_batch_beside_train, std::nullopt);
}

TEST(ContentionOf, AGpuTakesWhatMostRoundsShowOfTheCpu) {
  Measured measured;
  for (const double slowdown : {1.0, 5.0, 1.1, 9.0, 1.0}) {
    measured.cpu_batch_beside_train.add(slowdown);
    measured.transfer_beside_workers.add(slowdown);
  }
  EXPECT_EQ(contention_of(measured, {}, 4, DeviceKind::emulated).cpu_batch_beside_train, 1.1);
  EXPECT_EQ(contention_of(measured, {}, 4, DeviceKind::cuda).cpu_batch_beside_train, 1.0);
  EXPECT_EQ(contention_of(measured, {}, 4, DeviceKind::cuda).transfer_beside_workers, 1.1);
  for (const double ratio : {3.0, 2.0, 9.0}) {
    measured.workers_beside_device.add(ratio);
  }
  const std::vector<ScalingPoint> half_at_three{{1, 1}, {3, 0.5}};
  EXPECT_EQ(contention_of(measured, half_at_three, 4, DeviceKind::cuda).workers_beside_device, 1.5)
      << "beyond what workers do to each other";
}

}  // namespace
}  // namespace gnomon::profiles
