#include "sim/prediction.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/document.h"

namespace gnomon::sim {
namespace {

Prediction some_prediction() {
  Prediction prediction;
  prediction.epoch_s = 1.0 / 3;
  prediction.lower_bound_s = std::numeric_limits<double>::infinity();
  prediction.cpu_batches = 17;
  prediction.bound_by = "link";
  prediction.consumption.energy_j = 0.1;
  prediction.memory.device.cache_bytes = 5e9;
  prediction.memory.shortage = Shortage::device_memory;
  prediction.timeline = {{schedule::Stage::train, 3, 0, 0.5, 0.75, 1},
                         {schedule::Stage::group_read, 4, 2, 0.25, 1, 0}};
  return prediction;
}

TEST(PackedPrediction, ComesBackAsItWas) {
  const auto before = some_prediction();
  const auto after = unpack(pack(before));
  EXPECT_EQ(after.epoch_s, before.epoch_s);
  EXPECT_EQ(after.lower_bound_s, before.lower_bound_s);
  EXPECT_EQ(after.cpu_batches, 17);
  EXPECT_EQ(after.bound_by, "link");
  EXPECT_EQ(after.consumption.energy_j, 0.1);
  EXPECT_FALSE(after.consumption.price);
  EXPECT_EQ(after.memory.device.cache_bytes, 5e9);
  EXPECT_EQ(after.memory.shortage, Shortage::device_memory);
  ASSERT_EQ(after.timeline.size(), 2U);
  EXPECT_EQ(after.timeline[1].stage, schedule::Stage::group_read);
  EXPECT_EQ(after.timeline[1].worker, 2);
  EXPECT_EQ(pack(after), pack(before));
}

TEST(PredictionDocument, HoldsWhatIsKnown) {
  const auto document = base::write_value(some_prediction());
  EXPECT_EQ(document["cpu_batches"], 17);
  EXPECT_EQ(document["energy_j"], 0.1);
  EXPECT_FALSE(document.contains("price"));
  EXPECT_FALSE(document.contains("timeline"));
  EXPECT_EQ(document["memory"]["shortage"], "device_memory");
}

}  // namespace
}  // namespace gnomon::sim
