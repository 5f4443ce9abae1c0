#include "profiles/beliefs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "graph/generate/generate.h"
#include "profiles/measure/evidence.h"
#include "profiles/measure/rounds.h"
#include "tests/fixtures/graphs.h"
#include "tests/fixtures/profiles.h"
#include "tests/fixtures/speeds.h"
#include "tests/profiles/tiny_job.h"

namespace gnomon::profiles {
namespace {

Profile host_profile(int cores) {
  return test::profile_of(DeviceKind::host, cores, 20, {0.01, 0, 0.01, 0.02});
}

const Belief& belief_of(const Profile& profile, const std::string& name) {
  const auto found = std::ranges::find(profile.beliefs, name, &Belief::of);
  EXPECT_NE(found, profile.beliefs.end()) << name;
  return *found;
}

TEST(Quantities, AreNumbersOfTheProfileWithNamesOfTheirOwn) {
  for (const auto kind : {DeviceKind::host, DeviceKind::emulated, DeviceKind::cuda}) {
    auto profile = test::profile_of(kind, 8, 20, {0.01, 0.002, 0.01, 0.02});
    std::set<std::string> names;
    for (const auto& quantity : quantities_of(profile)) {
      EXPECT_TRUE(names.insert(quantity.name).second) << quantity.name;
      EXPECT_GT(quantity.deviation, 0) << quantity.name;
      const double before = quantity.of(profile);
      EXPECT_TRUE(quantity.is_known(profile)) << quantity.name;
      quantity.of(profile) *= 1.25;
      EXPECT_EQ(quantity.of(profile), before * 1.25) << quantity.name;
    }
  }
}

bool has(const Profile& profile, const std::string& name) {
  return find_quantity(quantities_of(profile), name) != nullptr;
}

// What a GPU's stages do to each other is measured in pipelines where there are several workers; what would
// be measured otherwise must not be believed besides.
TEST(Quantities, OfStagesBesideEachOtherAreThoseThatAreMeasured) {
  const auto with_gpu = test::profile_of(DeviceKind::cuda, 8, 20, {0.01, 0.002, 0.01, 0.02});
  EXPECT_TRUE(has(with_gpu, "train_beside_workers"));
  EXPECT_FALSE(has(with_gpu, "train_beside_cpu_batch"));
  EXPECT_FALSE(has(host_profile(8), "train_beside_workers"));
  EXPECT_TRUE(has(host_profile(8), "train_beside_cpu_batch"));
  EXPECT_FALSE(has(host_profile(8), "train_beside_train"));
}

TEST(Quantities, HoldAllThatRoundsInform) {
  const auto graph = graph::generate_in_memory(test::tiny_partition());
  for (const auto kind : {DeviceKind::host, DeviceKind::emulated}) {
    runtime::DeviceOptions device;
    if (kind == DeviceKind::emulated) {
      device = {.kind = kind,
                .max_bytes = std::int64_t{256} << 20,
                .link = {.bandwidth_bytes_per_s = 1e9},
                .devices = 2};
    }
    Rounds rounds(graph, tiny_job(50), 4, device, nullptr);
    rounds.warm_up([] { return true; });
    auto profile = test::profile_of(kind, 4, 20, {0.01, 0.002, 0.01, 0.02});
    profile.machine.device.count = device.devices;
    std::set<std::string> informed;
    for (const auto& measurement : rounds.measurements()) {
      for (const auto& name : measurement.informs) {
        EXPECT_TRUE(has(profile, name)) << measurement.name << ": " << name;
        informed.insert(name);
      }
    }
    for (const auto& quantity : quantities_of(profile)) {
      EXPECT_TRUE(informed.contains(quantity.name)) << quantity.name;
    }
  }
}

TEST(Quantities, OfOneCoreHaveNoThreads) {
  for (const auto& quantity : quantities_of(host_profile(1))) {
    EXPECT_EQ(quantity.name.find('@'), std::string::npos) << quantity.name;
  }
}

TEST(Beliefs, FillWhatIsUnknownAndLeaveTheRest) {
  auto profile = host_profile(4);
  profile.workload.train_speedup = {{1, 1}, {4, 2.5}};
  add_beliefs(profile);
  ASSERT_EQ(profile.workload.train_speedup.size(), 3U);
  EXPECT_EQ(profile.workload.train_speedup.back().value, 2.5);
  EXPECT_EQ(belief_of(profile, "train_speedup@2").samples, 0);
  EXPECT_TRUE(std::ranges::none_of(profile.beliefs,
                                   [](const Belief& belief) { return belief.of == "train_speedup@4"; }));
  check(profile, "profile");
  const auto before = profile.beliefs;
  add_beliefs(profile);
  EXPECT_EQ(profile.beliefs, before);
  const auto measured = measured_part(profile);
  EXPECT_TRUE(measured.beliefs.empty());
  ASSERT_EQ(measured.workload.train_speedup.size(), 2U);
  EXPECT_EQ(measured.workload.train_speedup.back().threads, 4);
  EXPECT_FALSE(measured.workload.parts.fused_train_ratio.has_value());
}

// Samples draw the number away from what was believed, the more of them the further, and make it surer.
TEST(Beliefs, FollowSamplesByTheirPrecision) {
  double last = 0;
  double deviation = 1;
  for (const int count : {1, 2, 4, 32}) {
    auto profile = host_profile(2);
    Measured measured;
    for (int i = 0; i < count; ++i) {
      measured.train_speedup[2].add(1.9);
    }
    profile.workload.train_speedup = {{1, 1}, {2, 1.9}};
    set_beliefs(profile, measured);
    const double value = profile.workload.train_speedup.back().value;
    EXPECT_GT(value, last);
    EXPECT_LT(value, 1.9);
    EXPECT_LT(belief_of(profile, "train_speedup@2").deviation, deviation);
    EXPECT_EQ(belief_of(profile, "train_speedup@2").samples, count);
    last = value;
    deviation = belief_of(profile, "train_speedup@2").deviation;
  }
  EXPECT_NEAR(last, 1.9, 0.02);
}

// The machine's speeds at the job's kinds of work tell more than other jobs on other machines do.
TEST(Beliefs, OfSpeedUpsFollowTheMachinesSpeeds) {
  auto profile = host_profile(2);
  profile.workload.vertices = profile.workload.batch_vertices = 10'000;
  profile.workload.batch_edges = 50'000;
  profile.workload.feature_columns = 64;
  profile.workload.feature_row_bytes = 256;
  const auto deviation_of = [&] {
    const auto quantities = quantities_of(profile);
    return std::ranges::find(quantities, "train_speedup@2", &Quantity::name)->deviation;
  };
  const double without = deviation_of();
  MachineSpeeds speeds;
  for (const auto work : {Work::dense_fp32, Work::sparse, Work::copies}) {
    for (const int threads : {1, 2}) {
      speeds.speeds.push_back({.work = work, .threads = threads, .size = 64, .per_s = 1e9 * threads});
    }
  }
  profile.machine_speeds = speeds;
  EXPECT_LT(deviation_of(), without);
}

}  // namespace
}  // namespace gnomon::profiles
