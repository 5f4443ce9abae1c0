#include "tuner/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "sim/predict.h"
#include "tests/fixtures/profiles.h"

namespace gnomon::tuner {
namespace {

/// A machine with a GPU whose stages take so long; spread is left out, so that epochs are sums and maxima.
profiles::Profile profile_of(const test::StageMeans& means) {
  return test::profile_of(profiles::DeviceKind::cuda, 4, 5000, means);
}

std::vector<Sensitivity> sensitivities_of(const profiles::Profile& profile, const plan::Plan& plan) {
  sim::Simulator simulator;
  const SearchSetup setup{[](const profiles::Profile& p) {
                            SpaceRequest request;
                            request.cores = {p.machine.cpu.cores, p.machine.device.kind, 1};
                            request.batches = p.workload.batches;
                            return request;
                          },
                          [&](const profiles::Profile& p, const plan::Plan& q) {
                            EXPECT_LE(p.workload.batches, 400);
                            return sim::predict(simulator, p, q);
                          }};
  return sensitivities(profile, plan, setup);
}

double share_of(const std::vector<Sensitivity>& all, const std::string& change) {
  for (const auto& each : all) {
    if (each.change == change) {
      return each.share.value_or(NAN);
    }
  }
  ADD_FAILURE() << "no " << change;
  return 0;
}

TEST(Sensitivities, TheBottleneckIsWhatHelps) {
  // Training alone keeps the device busy; the pipeline hides everything else.
  auto plan = plan::find_plan("salient");
  plan.workers = 4;
  const auto training = sensitivities_of(profile_of({0.02, 0.001, 0.5, 0.05}), plan);
  EXPECT_EQ(training.front().change, "training twice as fast");
  EXPECT_NEAR(training.front().share.value_or(NAN), -0.5, 0.02);
  EXPECT_NEAR(share_of(training, "4 more cores"), 0, 0.02);

  // Four workers are far too few, and the device cannot help.
  const auto preparation = sensitivities_of(profile_of({0.8, 0.001, 10, 0.01}), plan);
  EXPECT_NEAR(share_of(preparation, "CPU preparation twice as fast"), -0.5, 0.03);
  EXPECT_NEAR(share_of(preparation, "4 more cores"), -0.5, 0.03);
  EXPECT_NEAR(share_of(preparation, "training twice as fast"), 0, 0.02);

  // Copies take longest.
  const auto copying = sensitivities_of(profile_of({0.02, 0.1, 10, 0.01}), plan);
  EXPECT_EQ(copying.front().change, "twice the link's bandwidth");
  EXPECT_NEAR(copying.front().share.value_or(NAN), -0.5, 0.03);
}

TEST(Sensitivities, MachinesWithoutAGpuHaveNoLink) {
  auto profile = profile_of({0.02, 0.001, 0.5, 0.05});
  profile.machine.device.kind = profiles::DeviceKind::host;
  profile.machine.device.memory_bytes = 4e9;  // of nothing
  for (const auto& change : changes_of(profile)) {
    EXPECT_EQ(change.name.find("link"), std::string::npos);
    EXPECT_EQ(change.name.find("memory"), std::string::npos);
  }
}

// The plan to take may be slower than the best by the error of predictions. A change that helps nothing must
// not look as if it gained that.
TEST(Sensitivities, CompareTheBestPlanWithTheBestPlan) {
  auto slow = plan::find_plan("device");
  for (const auto device : {profiles::DeviceKind::host, profiles::DeviceKind::cuda}) {
    // Copies take no time worth mentioning, and training is all that counts.
    auto profile = profile_of({0.02, 0.0001, 0.03, 0.05});
    profile.machine.device.kind = device;
    profile.machine.device.memory_bytes = 64e9;
    for (const auto& [change, share, why_not] : sensitivities_of(profile, slow)) {
      EXPECT_TRUE(share) << change << ": " << why_not;
      if (change.find("memory") != std::string::npos || change.find("link") != std::string::npos) {
        EXPECT_NEAR(share.value_or(NAN), 0, 1e-3) << change;
      }
      EXPECT_LE(share.value_or(NAN), 0) << change << ": improvements make no epoch longer";
    }
  }
}

TEST(Sensitivities, ReportWhatCannotBeComputed) {
  const auto profile = profile_of({0.02, 0.001, 0.5, 0.05});
  sim::Simulator simulator;
  const SearchSetup setup{[](const profiles::Profile& p) {
                            SpaceRequest request;
                            request.cores = {p.machine.cpu.cores, p.machine.device.kind, 1};
                            return request;
                          },
                          [&](const profiles::Profile& p, const plan::Plan& plan) {
                            if (p.machine.cpu.cores > 4) {
                              throw std::logic_error("no stage runs");
                            }
                            return sim::predict(simulator, p, plan);
                          }};
  for (const int processes : {1, 3}) {
    auto in_processes = setup;
    in_processes.processes = processes;
    const auto found = sensitivities(profile, plan::find_plan("device"), in_processes);
    ASSERT_EQ(found.back().change, "4 more cores");
    EXPECT_FALSE(found.back().share);
    EXPECT_EQ(found.back().why_not, "no stage runs");
    EXPECT_TRUE(found.front().share);
  }
}

}  // namespace
}  // namespace gnomon::tuner
