#include "schedule/policies/look_ahead_estimate.h"

#include <gtest/gtest.h>

namespace gnomon::schedule {
namespace {

TEST(LookAheadEstimate, GuessesUntilSomethingIsKnown) {
  const LookAheadEstimate estimate(0, 0, 0, 0);
  EXPECT_EQ(estimate.look_ahead(100, 5), 5);
}

TEST(LookAheadEstimate, BeginsWithWhatWasKnownBefore) {
  // (18 + 2) / (3 + 1) trainings and one more.
  const LookAheadEstimate estimate(18, 2, 3, 1);
  EXPECT_EQ(estimate.look_ahead(0, 1), 6);
}

TEST(LookAheadEstimate, CountsHowLongTheFirstBatchesHaveTakenSoFar) {
  LookAheadEstimate estimate(0, 0, 0, 0);
  estimate.add_training(2);
  EXPECT_EQ(estimate.look_ahead(7, 1), 5);  // 7 / 2 rounded up, and one
  estimate.add_cpu_batch(4);
  EXPECT_EQ(estimate.look_ahead(7, 1), 3);  // now it is known: 4 / 2
}

TEST(LookAheadEstimate, AStepIsATrainingAndWhatTheDevicePreparedBeforeIt) {
  LookAheadEstimate estimate(0, 0, 0, 0);
  estimate.add_device_batch(3);
  estimate.add_device_batch(1);
  estimate.add_training(2);  // 6
  estimate.add_training(2);  // 2
  EXPECT_DOUBLE_EQ(estimate.step_s(), 4);
  EXPECT_DOUBLE_EQ(estimate.train_s(), 2);
}

TEST(LookAheadEstimate, ForgetsWhatIsLongAgo) {
  LookAheadEstimate estimate(0, 0, 0, 0);
  for (int i = 0; i < 100; ++i) {
    estimate.add_transfer(i < 20 ? 50 : 1);
  }
  EXPECT_NEAR(estimate.transfer_s(), 1, 0.3);  // 49 (15/16)^80 = 0.28 is left of the first
}

}  // namespace
}  // namespace gnomon::schedule
