#include "profiles/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/fixtures/profiles.h"
#include "tests/fixtures/temporary_directory.h"

namespace gnomon::profiles {
namespace {

Profile valid_profile() {
  auto profile = test::profile_of(DeviceKind::cuda, 4, 100, {0.04, 0.001, 0.01, 0.005});
  profile.workload.cpu_batch = {.mean_s = 0.04, .p5_s = 0.03, .p50_s = 0.04, .p95_s = 0.05};
  profile.workload.device_batch_link_s = 0.008;
  profile.workload.worker_efficiency = {{1, 1}, {4, 0.7}};
  return profile;
}

TEST(Scaling, IsOneWithoutPoints) {
  EXPECT_EQ(scaling_at({}, 1), 1);
  EXPECT_EQ(scaling_at({}, 64), 1);
}

TEST(Scaling, IsExactAtPointsAndLinearBetween) {
  const std::vector<ScalingPoint> points = {{1, 1}, {2, 0.9}, {6, 0.5}};
  EXPECT_EQ(scaling_at(points, 1), 1);
  EXPECT_EQ(scaling_at(points, 2), 0.9);
  EXPECT_DOUBLE_EQ(scaling_at(points, 3), 0.8);  // 0.9 - 0.4 * 1/4
  EXPECT_EQ(scaling_at(points, 6), 0.5);
}

TEST(Scaling, KeepsTheLastValueBeyond) { EXPECT_EQ(scaling_at({{1, 1}, {8, 5}}, 100), 5); }

TEST(Scaling, StartsFromOneThreadWhenItWasNotMeasured) {
  EXPECT_DOUBLE_EQ(scaling_at({{3, 2}}, 1), 1);
  EXPECT_DOUBLE_EQ(scaling_at({{3, 2}}, 2), 1.5);
}

TEST(Profile, SurvivesAFile) {
  const test::TemporaryDirectory directory;
  const auto path = directory / "profile.json";
  const Profile profile = valid_profile();
  base::write_document(path, profile);
  EXPECT_EQ(base::to_document(read_profile(path)), base::to_document(profile));
}

TEST(Profile, KeepsItsCorrections) {
  Profile profile = valid_profile();
  EXPECT_FALSE(base::to_document(profile).contains("corrections"));
  profile.corrections.emplace();
  profile.corrections->cpu_batch = Correction{.ratio = 1.25, .standard_error = 0.01, .batches = 40};
  const auto document = base::to_document(profile);
  EXPECT_EQ(document["corrections"].size(), 1U) << "stages that were not measured are left out";
  const auto read = base::from_document<Profile>(document, "p.json");
  EXPECT_EQ(read.corrections->cpu_batch->ratio, 1.25);
  EXPECT_EQ(read.corrections->cpu_batch->batches, 40);
  EXPECT_EQ(ratio_of(read.corrections->train), 1);
  auto wrong = document;
  wrong["corrections"]["cpu_batch"]["ratio"] = 0;
  EXPECT_THROW(base::from_document<Profile>(wrong, "p.json"), base::InputError);
}

struct Contradiction {
  std::string message;  ///< a part of it
  std::function<void(Profile&)> make;
};

TEST(Profile, NamesEveryContradiction) {
  const std::vector<Contradiction> contradictions = {
      {"workload.device_batch_link_s: is longer", [](Profile& p) { p.workload.device_batch_link_s = 0.011; }},
      {"workload.device_batch_link_s: a host device",
       [](Profile& p) { p.machine.device.kind = DeviceKind::host; }},
      {"workload.worker_efficiency[1].threads: 1 follows 1",
       [](Profile& p) { p.workload.worker_efficiency[1].threads = 1; }},
      {"workload.train_speedup[2].threads: 2 follows 3",
       [](Profile& p) {
         p.workload.train_speedup = {{1, 1}, {3, 2}, {2, 2}};
       }},
      {"workload.cpu_batch: percentiles fall", [](Profile& p) { p.workload.cpu_batch.p5_s = 0.045; }},
      {"workload.train.mean_s: 0 is not", [](Profile& p) { p.workload.train.mean_s = 0; }},
      {"corrections.train.standard_error: is not below",
       [](Profile& p) {
         p.corrections.emplace();
         p.corrections->train = Correction{.ratio = 1.2, .standard_error = 1.3, .batches = 5};
       }},
  };
  EXPECT_NO_THROW(check(valid_profile(), "p.json"));
  for (const Contradiction& contradiction : contradictions) {
    Profile profile = valid_profile();
    contradiction.make(profile);
    try {
      check(profile, "p.json");
      ADD_FAILURE() << "accepted: " << contradiction.message;
    } catch (const base::InputError& error) {
      EXPECT_THAT(error.what(), testing::StartsWith("p.json: " + contradiction.message));
    }
  }
}

}  // namespace
}  // namespace gnomon::profiles
