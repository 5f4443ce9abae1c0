#include "profiles/measure/rounds.h"

#include <gtest/gtest.h>

#include "graph/generate/generate.h"
#include "runtime/preparation/device_room.h"

namespace gnomon::profiles {
namespace {

// Over a link of 0.1 GB/s nearly all of preparation is reading, which a cache of everything saves.
TEST(MeasureCached, TellsWhatIsReadOverTheLink) {
  const auto graph = graph::generate_in_memory(graph::PlantedPartition{
      .vertices = 4000, .average_degree = 20, .classes = 4, .feature_columns = 64, .seed = 1});
  plan::Job job;
  job.fanouts = {10, 5};
  job.batch_size = 200;
  job.hidden = 16;
  const runtime::DeviceOptions slow{.kind = plan::DeviceKind::emulated,
                                    .max_bytes = std::int64_t{256} << 20,
                                    .link = {.bandwidth_bytes_per_s = 1e8}};
  Rounds rounds(graph, job, 2, slow, nullptr);
  rounds.warm_up([] { return true; });
  Measured measured;
  rounds.run(measured, [] { return true; });
  const double over_the_link_s = measured.of(schedule::Stage::device_batch).mean();
  const auto cached = rounds.measure_cached(0.1);
  const auto resident = rounds.measure_resident(0.1);
  EXPECT_LT(resident.device_batch_s, over_the_link_s / 2);
  EXPECT_LT(cached.device_batch_s, over_the_link_s / 2);
  EXPECT_GE(cached.device_batch_s, cached.device_sample_s);
  EXPECT_FALSE(cached.train_s) << "preparation still waits for what is not cached";
  ASSERT_TRUE(resident.train_s);
  EXPECT_GT(*resident.train_s, 0);
  EXPECT_LT(*resident.train_s, 2 * measured.of(schedule::Stage::train).mean());
}

// Where the device's memory suffices for the stages one at a time, but not for all that a round measures, the
// rest is left out, and rounds go on.
TEST(Rounds, LeaveOutWhatTheDeviceHasTooLittleMemoryFor) {
  const auto graph = graph::generate_in_memory(graph::PlantedPartition{
      .vertices = 20'000, .average_degree = 8, .classes = 4, .feature_columns = 64, .seed = 1});
  plan::Job job;
  job.fanouts = {4, 3};
  job.batch_size = 1500;
  bool has_left_out = false;
  bool has_too_little = false;
  for (std::int64_t bytes = std::int64_t{40} << 20; !has_too_little; bytes -= bytes / 12) {
    const runtime::DeviceOptions device{
        .kind = plan::DeviceKind::emulated, .max_bytes = bytes, .link = {.bandwidth_bytes_per_s = 1e10}};
    try {
      Rounds rounds(graph, job, 2, device, nullptr);
      rounds.warm_up([] { return true; });
      Measured measured;
      rounds.run(measured, [] { return false; });
      const auto samples = measured.of(schedule::Stage::train).count();
      rounds.run(measured, [] { return false; });
      EXPECT_GT(measured.of(schedule::Stage::train).count(), samples) << bytes;
      for (const auto& measurement : rounds.measurements()) {
        has_left_out |=
            measurement.taken > 0 && measurement.informs.empty() && measurement.name != "the last mini-batch";
      }
    } catch (const runtime::OutOfDeviceMemory&) {
      has_too_little = true;
    }
  }
  EXPECT_TRUE(has_left_out);
}

}  // namespace
}  // namespace gnomon::profiles
