#include "tuner/preference.h"

#include <gtest/gtest.h>

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

std::string taken(const std::vector<Candidate>& candidates, const plan::Cores& cores) {
  return candidates.at(preferred(candidates, cores)).plan.name;
}

TEST(Preference, OfEquallyFastPlansTheOneWhoseThreadsHaveCores) {
  const plan::Cores host{4, true, 1};
  const auto crowded = candidate("crowded", 2, 4, 1);
  const auto roomy = candidate("roomy", 2, 2, 1 + 0.9 * same_epoch);
  const auto idle = candidate("idle", 1, 1, 1 + 0.95 * same_epoch);
  const auto slower = candidate("slower", 1, 1, 1 + 1.1 * same_epoch);
  EXPECT_EQ(taken({slower, crowded, idle, roomy}, host), "roomy");
  EXPECT_EQ(taken({slower, crowded}, host), "crowded");
  EXPECT_EQ(taken({roomy, crowded}, {2, true, 1}), "roomy") << "two too many, not four";
  EXPECT_EQ(taken({roomy, crowded}, {4, false, 1}), "crowded") << "a GPU's threads take no cores";
}

TEST(Preference, ThreadsThatShareABatchCount) {
  auto sharing = candidate("sharing", 2, 1, 1);
  sharing.plan.worker_threads = 2;
  EXPECT_EQ(taken({sharing, candidate("others", 3, 1, 1.001)}, {4, true, 1}), "others");
}

TEST(Preference, RoomIsForBuffersThatHoldWhatComesNext) {
  plan::Plan plan;
  plan.schedule = Schedule::claim_ahead;
  plan.route = plan::Route::both;
  plan.cpu_buffer = 1;
  plan.device_buffer = 9;
  plan.look_ahead = 1;
  const auto roomy = with_room(plan);
  EXPECT_GT(roomy.cpu_buffer, 1);
  EXPECT_EQ(roomy.device_buffer, 9);
  EXPECT_EQ(roomy.look_ahead, 0);
  EXPECT_EQ(with_room(roomy), roomy);
  for (const auto schedule : {Schedule::sequential, Schedule::dual_buffer}) {
    plan.schedule = schedule;
    EXPECT_EQ(with_room(plan), plan);
  }
}

}  // namespace
}  // namespace gnomon::tuner
