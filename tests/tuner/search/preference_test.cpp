#include "tuner/search/preference.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tuner/search/candidate.h"

namespace gnomon::tuner {
namespace {

using plan::Schedule;

Candidate candidate(const char* name, int workers, int device_threads, double epoch_s) {
  Candidate candidate;
  candidate.plan.name = name;
  candidate.plan.workers = workers;
  candidate.plan.device_threads = device_threads;
  candidate.prediction.epoch_s = epoch_s;
  return candidate;
}

constexpr plan::Cores host_cores{4, plan::DeviceKind::host, 1};
constexpr double same = same_epoch(host_cores);

std::string taken(const std::vector<Candidate>& candidates, const plan::Cores& cores) {
  return candidates.at(preferred(candidates, cores)).plan.name;
}

TEST(Preference, OfEquallyFastPlansTheOneWhoseThreadsHaveCores) {
  const auto crowded = candidate("crowded", 2, 4, 1);
  const auto roomy = candidate("roomy", 2, 2, 1 + 0.9 * same);
  const auto idle = candidate("idle", 1, 1, 1 + 0.95 * same);
  const auto slower = candidate("slower", 1, 1, 1 + 1.1 * same);
  EXPECT_EQ(taken({slower, crowded, idle, roomy}, host_cores), "roomy");
  EXPECT_EQ(taken({slower, crowded}, host_cores), "crowded");
  EXPECT_EQ(taken({roomy, crowded}, {2, plan::DeviceKind::host, 1}), "roomy") << "two too many, not four";
  const auto nearly = candidate("nearly", 2, 2, 1.0001);
  EXPECT_EQ(taken({nearly, crowded}, {4, plan::DeviceKind::host, 1}), "nearly");
  EXPECT_EQ(taken({nearly, crowded}, {4, plan::DeviceKind::cuda, 1}), "crowded")
      << "a GPU's threads take no cores";
}

// A profile whose predictions were measured to be within 1 % tells plans apart that differ by more than half
// of it.
TEST(Preference, GoesByTheMeasuredErrorOfPredictions) {
  const auto crowded = candidate("crowded", 2, 4, 1);
  const auto roomy = candidate("roomy", 2, 2, 1.006);
  EXPECT_EQ(preferred({crowded, roomy}, host_cores), 1U);
  EXPECT_EQ(preferred({crowded, roomy}, host_cores, 0.01), 0U);
  EXPECT_EQ(preferred({crowded, roomy}, host_cores, 0.02), 1U);
  EXPECT_DOUBLE_EQ(same_epoch(host_cores, 0.02), 0.01);
  EXPECT_DOUBLE_EQ(same_epoch({4, plan::DeviceKind::cuda, 1}, 0.02), 0.01);
}

TEST(Preference, ThreadsThatShareABatchCount) {
  auto sharing = candidate("sharing", 2, 1, 1);
  sharing.plan.worker_threads = 2;
  EXPECT_EQ(taken({sharing, candidate("others", 3, 1, 1.001)}, {4, plan::DeviceKind::host, 1}), "others");
}

TEST(Preference, OfEquallyFastPlansTheOneWithTheUsualBuffers) {
  auto large = candidate("large", 2, 1, 1);
  large.plan.schedule = Schedule::dual_buffer;
  large.plan.cpu_buffer = 48;
  const auto usual = candidate("usual", 2, 1, 1 + 0.9 * same);
  const auto slower = candidate("slower", 2, 1, 1 + 1.1 * same);
  EXPECT_EQ(taken({large, usual}, host_cores), "usual");
  EXPECT_EQ(taken({large, slower}, host_cores), "large");
  large.plan.schedule = Schedule::sequential;
  EXPECT_EQ(taken({large, usual}, host_cores), "large") << "it has no buffers";
}

TEST(Preference, OfPlansThatPromiseWhatIsRequired) {
  auto as_ready = candidate("as ready", 2, 1, 1);
  as_ready.plan.schedule = Schedule::pipelined;
  as_ready.plan.order = plan::Order::as_ready;
  const auto in_order = candidate("in order", 2, 1, 1.5);
  const auto slower = candidate("slower", 2, 1, 2);
  const std::vector<Candidate> all{slower, as_ready, in_order};
  EXPECT_EQ(preferred(all, host_cores, {}, plan::Exactness::batches), 1U);
  EXPECT_EQ(preferred(all, host_cores, {}, plan::Exactness::order), 2U);
  EXPECT_EQ(preferred(all, host_cores, {}, plan::Exactness::bits), 2U);
  EXPECT_THROW(preferred({as_ready}, host_cores, {}, plan::Exactness::order), base::Failure);
}

TEST(Preference, SaysWhyFasterOnesAreNotTaken) {
  auto as_ready = candidate("as ready", 2, 1, 0.9);
  as_ready.plan.schedule = Schedule::pipelined;
  as_ready.plan.order = plan::Order::as_ready;
  auto large = candidate("large", 2, 1, 0.985);
  large.plan.schedule = Schedule::claim_ahead;
  large.plan.cpu_buffer = 48;
  const auto crowded = candidate("crowded", 2, 4, 0.98);
  const auto best = candidate("best", 2, 1, 1);
  const auto slower = candidate("slower", 1, 1, 1.1);
  const auto faster =
      passed_over({best, large, as_ready, slower, crowded}, best, host_cores, plan::Exactness::order);
  ASSERT_EQ(faster.size(), 3U);
  EXPECT_EQ(faster[0].candidate.plan.name, "as ready");
  EXPECT_EQ(faster[0].reason, PassedOverFor::exactness);
  EXPECT_EQ(faster[1].candidate.plan.name, "crowded");
  EXPECT_EQ(faster[1].reason, PassedOverFor::threads);
  EXPECT_EQ(faster[2].candidate.plan.name, "large");
  EXPECT_EQ(faster[2].reason, PassedOverFor::buffers);
}

TEST(Preference, OfEquallyFastPlansThoseInMemoryAreTaken) {
  auto on_disk = candidate("disk", 1, 1, 0.99);
  on_disk.plan.features = plan::Home::disk;
  const auto crowded = candidate("crowded", 2, 4, 1);
  EXPECT_EQ(preferred({on_disk, crowded}, host_cores), 1U);
  const auto faster = passed_over({on_disk, crowded}, crowded, host_cores, plan::Exactness::order);
  ASSERT_EQ(faster.size(), 1U);
  EXPECT_EQ(faster[0].reason, PassedOverFor::disk);
  // Of the same predicted epoch, too.
  on_disk.prediction.epoch_s = 1;
  EXPECT_TRUE(is_better(crowded, on_disk));
  on_disk.prediction.epoch_s = 0.9;
  EXPECT_EQ(preferred({on_disk, crowded}, host_cores), 0U) << "much faster";
}

TEST(Preference, UsualBuffersHoldWhatComesNextAndLittleMore) {
  plan::Plan plan;
  plan.schedule = Schedule::claim_ahead;
  plan.route = plan::Route::both;
  plan.cpu_buffer = 1;
  plan.device_buffer = 99;
  plan.look_ahead = 1;
  const auto usual = with_usual_buffers(plan);
  EXPECT_GT(usual.cpu_buffer, 1);
  EXPECT_LT(usual.device_buffer, 99);
  EXPECT_EQ(usual.look_ahead, 0);
  EXPECT_EQ(with_usual_buffers(usual), usual);
  for (const auto schedule : {Schedule::sequential, Schedule::dual_buffer}) {
    plan.schedule = schedule;
    EXPECT_EQ(with_usual_buffers(plan), plan);
  }
}

}  // namespace
}  // namespace gnomon::tuner
