#include "schedule/pace.h"

#include <gtest/gtest.h>

namespace gnomon::schedule {
namespace {

TEST(Pace, GuessesUntilSomethingIsKnown) {
  const Pace pace(0, 0, 0, 0);
  EXPECT_EQ(pace.trainings_ahead(100, 5), 5);
}

TEST(Pace, BeginsWithWhatWasKnownBefore) {
  // (18 + 2) / (3 + 1) trainings and one more.
  const Pace pace(18, 2, 3, 1);
  EXPECT_EQ(pace.trainings_ahead(0, 1), 6);
}

TEST(Pace, CountsHowLongTheFirstBatchesHaveTakenSoFar) {
  Pace pace(0, 0, 0, 0);
  pace.trained(2);
  EXPECT_EQ(pace.trainings_ahead(7, 1), 5);  // 7 / 2 rounded up, and one
  pace.prepared(4);
  EXPECT_EQ(pace.trainings_ahead(7, 1), 3);  // now it is known: 4 / 2
}

TEST(Pace, AStepIsATrainingAndWhatTheDevicePreparedBeforeIt) {
  Pace pace(0, 0, 0, 0);
  pace.device_prepared(3);
  pace.device_prepared(1);
  pace.trained(2);  // 6
  pace.trained(2);  // 2
  EXPECT_DOUBLE_EQ(pace.step_s(), 4);
  EXPECT_DOUBLE_EQ(pace.train_s(), 2);
}

TEST(Pace, ForgetsWhatIsLongAgo) {
  Pace pace(0, 0, 0, 0);
  for (int i = 0; i < 100; ++i) {
    pace.copied(i < 20 ? 50 : 1);
  }
  EXPECT_NEAR(pace.copy_s(), 1, 0.3);  // 49 (15/16)^80 = 0.28 is left of the first
}

}  // namespace
}  // namespace gnomon::schedule
