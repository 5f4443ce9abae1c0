#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "sim/bound.h"
#include "sim/predict.h"
#include "tests/random_seed.h"
#include "tuner/search/dispatcher.h"

// What bench/schedule_bounds.cpp records of many cases, on fewer.

namespace gnomon::tuner {
namespace {

constexpr std::int64_t batches = 1000;
constexpr int cases = 100;

profiles::Profile random_profile(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto between = [&](double least, double most) {
    return least * std::pow(most / least, uniform(random));
  };
  profiles::Profile profile;
  profile.machine.device.kind = profiles::DeviceKind::cuda;
  profile.machine.cpu.cores = 1 + static_cast<int>(random() % 16);
  auto& workload = profile.workload;
  workload.batches = batches;
  const auto stage = [](double mean_s) {
    return profiles::StageTime{.mean_s = mean_s, .deviation_s = 0.1 * mean_s};
  };
  workload.train = stage(1);
  workload.cpu_batch = stage(between(0.5, 30));
  workload.device_batch = stage(between(0.2, 4));
  workload.transfer = stage(between(0.05, 1.5));
  workload.device_batch_link_s = workload.device_batch.mean_s * between(0.5, 1);
  return profile;
}

plan::Plan with_all_workers(const char* preset, const profiles::Profile& profile) {
  plan::Plan plan = plan::find_plan(preset);
  plan.workers = profile.machine.cpu.cores;
  return plan;
}

double tuned_claim_ahead_s(const profiles::Profile& profile, const Evaluate& evaluate) {
  plan::Plan plan = with_all_workers("gnomon", profile);
  double best_s = std::numeric_limits<double>::infinity();
  for (const int look_ahead : {1, 3, 6, 12, 24, 48}) {
    plan.look_ahead = look_ahead;
    best_s = std::min(best_s, evaluate(plan).epoch_s);
  }
  return best_s;
}

TEST(Schedules, KeepTheirBoundsOnRandomMachines) {
  const test::RandomSeed seed(1717);
  std::mt19937_64 random(seed);
  sim::Simulator simulator;
  std::vector<double> claim_ahead;
  std::vector<double> open_look_ahead;
  for (int round = 0; round < cases; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto profile = random_profile(random);
    const Evaluate evaluate = [&](const plan::Plan& plan) {
      const auto prediction = sim::predict(simulator, profile, plan);
      EXPECT_GE(prediction.epoch_s, prediction.lower_bound_s * (1 - 1e-9)) << plan.name;
      return prediction;
    };
    const auto model =
        sim::machine_model(profile,
                           plan::resolve(with_all_workers("gnomon", profile),
                                         {profile.machine.cpu.cores, plan::DeviceKind::cuda}, "plan"),
                           false, 0);
    const double bound_s = sim::lower_bound_s(model, plan::Route::both, batches);
    // MorphGL's theorem 2: under 3 + BW_pcie / BW_gpu times the optimum, which is not under the bound.
    const auto dispatched = dispatch(profile, with_all_workers("morphgl", profile), evaluate);
    EXPECT_LT(dispatched.best.prediction.epoch_s, 3 * dispatched.best.prediction.lower_bound_s);
    claim_ahead.push_back(tuned_claim_ahead_s(profile, evaluate) / bound_s);
    open_look_ahead.push_back(evaluate(with_all_workers("gnomon", profile)).epoch_s / bound_s);
  }
  std::sort(claim_ahead.begin(), claim_ahead.end());
  EXPECT_LE(claim_ahead[cases / 2], 1.02);
  EXPECT_LE(claim_ahead[cases * 9 / 10], 1.08);
  std::sort(open_look_ahead.begin(), open_look_ahead.end());
  EXPECT_LE(open_look_ahead[cases / 2], 1.02);
  EXPECT_LE(open_look_ahead[cases * 9 / 10], 1.08);
}

}  // namespace
}  // namespace gnomon::tuner
