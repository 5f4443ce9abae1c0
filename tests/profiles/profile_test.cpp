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

TEST(Profile, PlansAreResolvedOnPhysicalCores) {
  Profile profile = valid_profile();
  auto& cpu = profile.machine.cpu;
  const auto physical_of = [&](int cores) {
    cpu.cores = cores;
    return cores_of(profile).physical;
  };
  cpu.physical_cores = std::nullopt;
  EXPECT_EQ(physical_of(16), 0);
  cpu.physical_cores = 8;
  cpu.node_cores = {8, 8};
  EXPECT_EQ(physical_of(16), 8);
  EXPECT_EQ(physical_of(12), 8);
  EXPECT_EQ(physical_of(4), 4);    // a quota, or asked for
  EXPECT_EQ(physical_of(64), 32);  // more than were counted
  cpu.node_cores = {};
  EXPECT_EQ(physical_of(16), 8);
}

TEST(Profile, LeavesOutWhatIsUnknown) {
  const auto document = base::to_document(valid_profile());
  EXPECT_EQ(document["machine"]["contention"], base::Json::object());
  EXPECT_FALSE(document["machine"]["cpu"].contains("memory_bytes"));
  EXPECT_EQ(base::from_document<Profile>(document, "p.json").machine.cpu.memory_bytes, std::nullopt);
  const auto all = base::to_document(valid_profile(), base::Absent::as_null);
  EXPECT_TRUE(all["machine"]["cpu"]["memory_bytes"].is_null());
  EXPECT_EQ(base::to_document(base::from_document<Profile>(all, "p.json")), document);
}

// Earlier versions wrote 0 for unknown; no such quantity is 0 where it is known.
TEST(Profile, ReadsZerosOfEarlierVersionsAsUnknown) {
  auto document = base::to_document(valid_profile());
  const auto without = document;
  for (const char* path : {"/machine/cpu/physical_cores",
                           "/machine/cpu/memory_bytes",
                           "/machine/cpu/memory_bandwidth_bytes_per_s",
                           "/machine/cpu/copy_bandwidth_bytes_per_s",
                           "/machine/device/memory_bytes",
                           "/machine/device/multiprocessors",
                           "/machine/device/memory_bandwidth_bytes_per_s",
                           "/machine/link/bandwidth_bytes_per_s",
                           "/machine/link/transfers_per_s",
                           "/machine/link/lanes",
                           "/machine/disk/bandwidth_bytes_per_s",
                           "/machine/disk/random_reads_per_s",
                           "/machine/running/idle_w",
                           "/machine/running/core_w",
                           "/machine/running/device_w",
                           "/machine/running/price_per_hour",
                           "/workload/max_degree",
                           "/workload/parts/cpu_sample_s",
                           "/workload/parts/device_sample_s",
                           "/workload/parts/activation_bytes",
                           "/workload/parts/find_hot_s",
                           "/workload/parts/refresh_s",
                           "/workload/parts/one_hop_batch_ratio",
                           "/workload/parts/one_hop_train_ratio",
                           "/workload/parts/resident_train_ratio",
                           "/workload/parts/structure_transfer_ratio",
                           "/workload/parts/fused_train_ratio",
                           "/workload/parts/prepare_share_ratio"}) {
    document[base::Json::json_pointer(path)] = 0;
  }
  EXPECT_EQ(base::to_document(base::from_document<Profile>(document, "p.json")), without);
  document["machine"]["cpu"]["memory_bytes"] = -1;
  EXPECT_THROW(base::from_document<Profile>(document, "p.json"), base::InputError);
}

// A stage may read nothing over the link, and sampling have no part in what is read.
TEST(Profile, KeepsMeasuredZeros) {
  Profile profile = valid_profile();
  profile.workload.parts.device_sample_link_s = 0;
  profile.workload.parts.transfer_memory_bytes = 0;
  const auto read = base::from_document<Profile>(base::to_document(profile), "p.json");
  EXPECT_EQ(read.workload.parts.device_sample_link_s, 0);
  EXPECT_EQ(read.workload.parts.transfer_memory_bytes, 0);
}

// Earlier profilers wrote 1 for a slowdown that they had not measured, and 1 over the fair share and the
// neighbour's slowdown for those of an oversubscribed CPU: 4 / 5 / 1.25 on four cores.
TEST(Profile, ForgetsWhatEarlierProfilersHadNotMeasured) {
  Profile profile = valid_profile();
  Contention& contention = profile.machine.contention;
  const auto set = [](const char*, std::optional<double>& slowdown, base::Range) { slowdown = 1; };
  Contention::fields(contention, set);
  contention.train_beside_cpu_batch = 1.25;
  contention.crowded_team = 0.64;
  contention.beside_crowded_team = 0.9;
  forget_unmeasured(profile);
  EXPECT_EQ(contention.crowded_team, std::nullopt);
  EXPECT_EQ(contention.beside_crowded_team, 0.9) << "0.8 would be unmeasured";
  contention.crowded_team = 0.64;
  contention.transfer_beside_train.reset();  // as on a host device, by today's profiler
  forget_unmeasured(profile);
  EXPECT_EQ(contention.crowded_team, 0.64);
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
