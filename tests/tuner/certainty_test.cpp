#include "tuner/certainty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/fixtures/profiles.h"
#include "tuner/tune.h"

namespace gnomon::tuner {
namespace {

constexpr int batches = 20;

profiles::Profile measured_profile() {
  auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, batches, {0.1, 0.02, 0.13, 0.05});
  profile.workload.cpu_batch.interval_s = 0.004;
  profile.workload.transfer.interval_s = 0.002;
  profile.workload.device_batch.interval_s = 0.003;
  profile.workload.train.interval_s = 0.02;
  return profile;
}

Candidate candidate(plan::Route route, double epoch_s) {
  Candidate candidate;
  candidate.plan.route = route;
  candidate.plan.workers = route == plan::Route::cpu ? 1 : 0;
  candidate.prediction.epoch_s = epoch_s;
  return candidate;
}

// One stage after another, by CPU 0.1 + 0.02 + 0.05 s and by the device 0.13 + 0.05 s a batch. Training is
// the same in both, so that its large error counts for neither side of the difference.
TEST(Certainties, LeaveOutTheErrorOfACommonStage) {
  const std::vector<Candidate> all = {candidate(plan::Route::cpu, batches * 0.17),
                                      candidate(plan::Route::device, batches * 0.18)};
  const auto known = certainties(measured_profile(), all);
  ASSERT_EQ(known.size(), 2U);
  EXPECT_NEAR(known[0].interval_s.value(), batches * std::hypot(0.004, 0.002, 0.02), 1e-9);
  EXPECT_NEAR(known[1].interval_s.value(), batches * std::hypot(0.003, 0.02), 1e-9);
  EXPECT_NEAR(known[1].over_best_s.value(), batches * 0.01, 1e-9);
  EXPECT_NEAR(known[1].over_best_interval_s.value(),
              batches * std::hypot(std::hypot(0.004, 0.002, 0.003), 0.01 * 0.17), 1e-9)
      << "and one percent, as no real run has measured the simulator's error";
  EXPECT_GT(known[1].interval_s.value(), known[1].over_best_s.value()) << "by itself it could be the best";
  EXPECT_FALSE(known[1].equals_best()) << "beside it, it cannot";
}

TEST(Certainties, TellPlansWithinTheIntervalOfTheDifference) {
  for (const double per_batch_s : {-0.005, 0.005}) {  // about 0.0056 is the interval
    const std::vector<Candidate> all = {candidate(plan::Route::cpu, batches * 0.17),
                                        candidate(plan::Route::device, batches * (0.17 + per_batch_s))};
    EXPECT_TRUE(certainties(measured_profile(), all)[1].equals_best()) << per_batch_s;
  }
}

TEST(Certainties, AreUnknownWithoutIntervals) {
  const auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, batches, {0.1, 0.02, 0.13, 0.05});
  const auto known =
      certainties(profile, {candidate(plan::Route::cpu, 1), candidate(plan::Route::device, 1)});
  EXPECT_FALSE(known[1].interval_s);
  EXPECT_FALSE(known[1].equals_best());
}

TEST(Certainties, AreInTheDocumentOfATuning) {
  auto profile = measured_profile();
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 5e9;
  TuningOptions options;
  options.budget = Budget{.evaluations = 10};
  const auto document = to_document(tune(profile, options));
  const auto& candidates = document["candidates"];
  EXPECT_EQ(document["interval_s"], candidates[0]["interval_s"]);
  EXPECT_EQ(candidates[0]["over_best_s"], 0);
  for (const auto& each : candidates) {
    const double over_s =
        each["prediction"]["epoch_s"].get<double>() - candidates[0]["prediction"]["epoch_s"].get<double>();
    EXPECT_EQ(each["equals_best"], std::abs(over_s) <= each["over_best_interval_s"].get<double>());
  }
}

}  // namespace
}  // namespace gnomon::tuner
