#include "sim/costs/resident_batch.h"

#include <gtest/gtest.h>

#include "tests/fixtures/profiles.h"

namespace gnomon::sim {
namespace {

constexpr double near_share = 1e-12;

profiles::WorkloadProfile counted() {
  auto workload = test::profile_of(profiles::DeviceKind::host, 1, 10, {1, 0, 1, 1}).workload;
  workload.resident_batches = {{.resident = 0.25, .neighbours = 0.4, .edges = 0.5, .vertices = 0.3},
                               {.resident = 0.5, .neighbours = 0.6, .edges = 0.8, .vertices = 0.6}};
  workload.thin_batches = {{.edges = 0.1, .vertices = 0.3, .cpu_batch = 0.2, .train = 0.4},
                           {.edges = 0.5, .vertices = 0.7, .cpu_batch = 0.6, .train = 0.8}};
  return workload;
}

plan::Macro macro_of(int resident, double hub_ratio = 0) {
  plan::Macro macro;
  macro.partitions = 8;
  macro.resident = resident;
  macro.hub_ratio = hub_ratio;
  return macro;
}

TEST(ResidentCosts, InterpolateCountsAndTimes) {
  const auto costs = resident_costs(counted(), macro_of(2));
  EXPECT_NEAR(costs.edges, 0.5, near_share);
  EXPECT_NEAR(costs.vertices, 0.3, near_share);
  // A size of 0.4 is half way between those of the thin mini-batches, 0.2 and 0.6.
  EXPECT_NEAR(costs.cpu_batch, 0.4, near_share);
  EXPECT_NEAR(costs.train, 0.6, near_share);
  // Of three parts, 0.5 of the neighbours are resident: a size of (0.65 + 0.45) / 2.
  const auto more = resident_costs(counted(), macro_of(3));
  EXPECT_NEAR(more.edges, 0.65, near_share);
  EXPECT_NEAR(more.vertices, 0.45, near_share);
  EXPECT_NEAR(more.cpu_batch, 0.2 + 0.4 * 0.35 / 0.4, near_share);
  const auto all = resident_costs(counted(), macro_of(8));
  for (const double share : {all.edges, all.vertices, all.cpu_batch, all.train}) {
    EXPECT_NEAR(share, 1, near_share);
  }
}

TEST(ResidentCosts, AreNotBelowTheSmallestThinMiniBatch) {
  auto workload = counted();
  workload.resident_batches = {{.resident = 0.25, .neighbours = 0.25, .edges = 0.01, .vertices = 0.02}};
  EXPECT_NEAR(resident_costs(workload, macro_of(2)).train, 0.4, near_share);
  workload.thin_batches.clear();
  EXPECT_NEAR(resident_costs(workload, macro_of(2)).train, 0.015, near_share) << "in proportion";
}

TEST(ResidentCosts, HubsAreResident) {
  auto workload = counted();
  workload.features.curves = {{plan::CachePolicy::out_degree, {{0.01, 1.0 / 3}}}};
  // A third of the 0.6 that are not in the parts: 0.6 of all, as with four parts.
  const auto costs = resident_costs(workload, macro_of(2, 0.01));
  EXPECT_NEAR(costs.edges, 0.8, near_share);
  EXPECT_NEAR(costs.vertices, 0.6, near_share);
}

TEST(ResidentCosts, AreThoseOfTheGraphWithoutCounts) {
  auto workload = counted();
  workload.resident_batches.clear();
  const auto costs = resident_costs(workload, macro_of(2));
  for (const double share : {costs.edges, costs.vertices, costs.cpu_batch, costs.train}) {
    EXPECT_EQ(share, 1);
  }
}

}  // namespace
}  // namespace gnomon::sim
