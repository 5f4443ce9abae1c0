#include "sim/costs/macro_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plan/plan.h"
#include "sim/costs/memory.h"
#include "tests/fixtures/profiles.h"

// What the CPU samples for a macro-batch, by hand.

namespace gnomon::sim {
namespace {

/// An average degree of 4. A mini-batch has 2 edges from each seed, and 4 from each of the 3 vertices then
/// seen.
profiles::Profile sampled_profile(profiles::DeviceKind device) {
  auto profile = test::profile_of(device, 1, 20, {1, 1, 1, 1});
  auto& workload = profile.workload;
  workload.vertices = 1000;
  workload.edges = 4000;
  workload.feature_row_bytes = 100;
  workload.job.fanouts = {2, 4};
  workload.batch_vertices = 40;
  workload.batch_edges = 100;
  return profile;
}

/// A quarter of the 20 mini-batches at a time.
plan::Plan sampled_plan(int factor) {
  auto plan = plan::find_plan("joestar-1");
  plan.workers = 1;
  plan.device_threads = 1;
  plan.macro.partitions = 4;
  plan.macro.resident = 1;
  plan.macro.fanout_factor = factor;
  return plan;
}

TEST(MacroSample, OfFactorOneIsTheUnionOfItsMiniBatches) {
  const auto sample = macro_sample(sampled_profile(profiles::DeviceKind::host).workload, sampled_plan(1));
  EXPECT_NEAR(sample.vertices, 1000 * (1 - std::exp(-5 * 40 / 1000.0)), 1e-9);
  EXPECT_DOUBLE_EQ(sample.draws, 1);
  EXPECT_DOUBLE_EQ(sample.edges, 5 * 100);
}

TEST(MacroSample, GrowsByTheFactorUpToTheGraphsDegrees) {
  // Twice as many in the first hop and, as lists of 4 grow no further, twice as many in the second.
  auto workload = sampled_profile(profiles::DeviceKind::host).workload;
  auto sample = macro_sample(workload, sampled_plan(2));
  EXPECT_DOUBLE_EQ(sample.draws, 2);
  EXPECT_NEAR(sample.vertices, 1000 * (1 - std::exp(-2 * 5 * 40 / 1000.0)), 1e-9);
  EXPECT_DOUBLE_EQ(sample.edges, 2 * 5 * 100);
  EXPECT_DOUBLE_EQ(macro_sample(workload, sampled_plan(100)).draws, 2);
  // With a degree of 40 both hops grow: (2 * 2 + 12 * 4) / 14.
  workload.edges = 40'000;
  EXPECT_NEAR(macro_sample(workload, sampled_plan(2)).draws, 52.0 / 14, 1e-12);
  // As measured, 2.5 edges from each of 10 destinations and 5 from each of 30: (25 * 2 + 150 * 4) / 175.
  workload.hops = {{.destinations = 10, .edges = 25}, {.destinations = 30, .edges = 150}};
  EXPECT_NEAR(macro_sample(workload, sampled_plan(2)).draws, 650.0 / 175, 1e-12);
  // Whole lists: at most one draw of each edge in each of two hops.
  EXPECT_NEAR(macro_sample(workload, sampled_plan(1024)).draws,
              std::min(2 * 40'000 / 500.0, (25 * 16 + 150 * 16 * 8) / 175.0), 1e-9);
}

TEST(MacroSample, TwoAreInTheMemoryInWhichTheDeviceTrains) {
  // Each vertex has a row, an id, a row pointer and a degree, each edge an id of 4 bytes.
  for (const auto device : {profiles::DeviceKind::host, profiles::DeviceKind::cuda}) {
    const auto profile = sampled_profile(device);
    const auto batches_bytes = [&](const plan::Plan& plan) {
      const auto memory = memory_of(profile, plan, {});
      return plan::has_link(device) ? memory.device.batches_bytes : memory.host.batches_bytes;
    };
    const auto bytes_of = [&](int factor) {
      const auto sample = macro_sample(profile.workload, sampled_plan(factor));
      return 2 * (sample.vertices * (100 + 24) + 4 * sample.edges);
    };
    const double beside = batches_bytes(sampled_plan(1)) - bytes_of(1);
    EXPECT_GE(beside, 0);
    EXPECT_NEAR(batches_bytes(sampled_plan(2)) - bytes_of(2), beside, 1e-6)
        << "the mini-batches are the same";
    EXPECT_GT(bytes_of(2), 1.5 * bytes_of(1));
  }
}

}  // namespace
}  // namespace gnomon::sim
