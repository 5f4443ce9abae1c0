#include "profiles/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "profiles/catalog_files.h"
#include "profiles/data_sheet.h"

namespace gnomon::profiles {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

/// Paths of all fields of an object: "cpu.cores".
void add_paths(const base::Json& object, const std::string& prefix, std::set<std::string>& paths) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      add_paths(value, prefix + key + ".", paths);
    } else {
      paths.insert(prefix + key);
    }
  }
}

TEST(Catalog, EveryFieldHasASourceAndADate) {
  for (const auto& [file, text] : catalog_files()) {
    const auto document = base::parse_json(text, std::string(file));
    std::set<std::string> open;
    add_paths(document["machine"], "", open);
    open.erase("name");
    open.erase("device.kind");  // gnomon's own word
    for (const auto& source : document["sources"]) {
      EXPECT_FALSE(source["where"].get<std::string>().empty()) << file;
      EXPECT_FALSE(source["date"].get<std::string>().empty()) << file;
      for (const auto& field : source["of"]) {
        EXPECT_EQ(open.erase(field.get<std::string>()), 1U)
            << file << ": " << field << " is named twice or is not there";
      }
    }
    EXPECT_THAT(open, IsEmpty()) << file;
  }
}

TEST(Catalog, HasThePapersAndTheCloudsMachines) {
  int cloud = 0;
  for (const auto& machine : catalog()) {
    EXPECT_EQ(machine.name, machine.machine.name);
    EXPECT_EQ(find_machine(machine.name).machine.cpu.cores, machine.machine.cpu.cores);
    cloud += machine.name.starts_with("aws-") || machine.name.starts_with("azure-") ? 1 : 0;
  }
  EXPECT_GE(cloud, 12);
  for (const char* name : {"morphgl-A", "morphgl-B", "morphgl-C", "morphgl-D", "neutronorch-single", "gnnlab",
                           "ducati", "thesis-MA1"}) {
    EXPECT_NO_THROW(find_machine(name)) << name;
  }
  EXPECT_THAT(
      [] { find_machine("nobody"); },
      ThrowsMessage<base::InputError>(HasSubstr("\"nobody\" is not known; use a machine file or one of")));
}

Profile measured() {
  Profile profile;
  profile.machine.device.kind = DeviceKind::cuda;
  profile.machine.device.memory_bandwidth_bytes_per_s = 400;
  profile.machine.link.bandwidth_bytes_per_s = 10;
  profile.machine.cpu.copy_bandwidth_bytes_per_s = 30;
  profile.machine.contention.cpu_batch_beside_train = 1.5;
  profile.workload.batch_bytes = 60;
  profile.workload.cpu_batch = {.mean_s = 7};
  profile.workload.transfer = {.mean_s = 6, .deviation_s = 0.6};
  profile.workload.device_batch = {.mean_s = 5};
  profile.workload.device_batch_link_s = 3;
  profile.workload.train = {.mean_s = 4, .p5_s = 4, .p50_s = 4, .p95_s = 4};
  return profile;
}

TEST(OnMachine, LeavesCorrectionsOfAnotherMachineBehind) {
  auto profile = measured();
  profile.corrections.emplace();
  EXPECT_FALSE(on_machine(profile, profile.machine).corrections.has_value());
  profile.workload.evaluation = {.time_s = 3, .host_bytes = 100};
  const auto moved = on_machine(profile, profile.machine).workload.evaluation;
  EXPECT_FALSE(moved->time_s.has_value());
  EXPECT_EQ(moved->host_bytes, 100);
}

// Twice the device's bandwidth, five times the link's: training 4 / 2, copies 6 / 5, and preparing, of whose
// 5 s 3 are the link's, (5 - 3) / 2 + 3 / 5. A core stays a core.
TEST(OnMachine, ScalesByBandwidths) {
  MachineProfile other = measured().machine;
  other.device.memory_bandwidth_bytes_per_s = 800;
  other.link.bandwidth_bytes_per_s = 50;
  other.cpu.cores = 16;
  const auto workload = on_machine(measured(), other).workload;
  EXPECT_DOUBLE_EQ(workload.train.mean_s, 2);
  EXPECT_DOUBLE_EQ(workload.train.p50_s, 2);
  EXPECT_DOUBLE_EQ(workload.transfer.mean_s, 1.2);
  EXPECT_DOUBLE_EQ(workload.transfer.deviation_s, 0.12);
  EXPECT_DOUBLE_EQ(workload.device_batch.mean_s, 1.6);
  EXPECT_DOUBLE_EQ(workload.device_batch_link_s, 0.6);
  EXPECT_DOUBLE_EQ(workload.cpu_batch.mean_s, 7);
  EXPECT_EQ(on_machine(measured(), other).machine.cpu.cores, 16);
}

// Two layers take 24 launches to train and 18 to prepare a mini-batch.
TEST(OnMachine, AGpuIsNotFasterThanItsLaunches) {
  Profile host = measured();
  host.machine.device.kind = DeviceKind::host;
  host.machine.cpu.memory_bandwidth_bytes_per_s = 100;
  host.workload.device_batch_link_s = 0;
  host.workload.job.fanouts = {5, 5};
  host.workload.batch_bytes = 0;
  host.workload.train.mean_s = 4e-3;
  host.workload.device_batch.mean_s = 5e-3;
  MachineProfile gpu = measured().machine;
  gpu.device.memory_bandwidth_bytes_per_s = 100 * 1000;
  gpu.link.bandwidth_bytes_per_s.reset();
  gpu.device.launch_s = 2e-6;
  const auto moved = move_to_machine(host, gpu);
  EXPECT_DOUBLE_EQ(moved.profile.workload.train.mean_s, 24 * 2e-6);
  EXPECT_DOUBLE_EQ(moved.profile.workload.device_batch.mean_s, 18 * 2e-6);
  EXPECT_THAT(text_of(moved.scalings.back()), HasSubstr("; not below 24 kernel launches of 2 us"));
  gpu.device.memory_bandwidth_bytes_per_s = 1000;  // 4e-4 s and 5e-4 s are above it
  EXPECT_DOUBLE_EQ(on_machine(host, gpu).workload.train.mean_s, 4e-4);
  EXPECT_DOUBLE_EQ(on_machine(host, gpu).workload.device_batch.mean_s, 5e-4);
}

TEST(OnMachine, AGpuThatWasMeasuredBelowItsLaunchesKeepsItsTime) {
  Profile gpu = measured();
  gpu.workload.job.fanouts = {5, 5};
  gpu.workload.train.mean_s = 1e-4;
  MachineProfile faster = gpu.machine;
  faster.device.memory_bandwidth_bytes_per_s = 4000;
  EXPECT_DOUBLE_EQ(on_machine(gpu, faster).workload.train.mean_s, 1e-4);
}

TEST(OnMachine, LeavesWhatIsNotKnown) {
  MachineProfile other;
  other.device.kind = DeviceKind::cuda;
  const auto profile = on_machine(measured(), other);
  EXPECT_DOUBLE_EQ(profile.workload.train.mean_s, 4);
  EXPECT_DOUBLE_EQ(profile.workload.transfer.mean_s, 6);
  EXPECT_DOUBLE_EQ(profile.workload.device_batch.mean_s, 5);
  EXPECT_EQ(profile.machine.contention.cpu_batch_beside_train, 1.5);
  EXPECT_EQ(profile.machine.cpu.copy_bandwidth_bytes_per_s, 30);
}

// Without a GPU there was no link: a batch's 60 bytes come over the new one, 60 / 20 s. The host's memory
// bandwidth of 100 stands against the device's 400.
TEST(OnMachine, FromTheHostToADevice) {
  Profile host = measured();
  host.machine.device.kind = DeviceKind::host;
  host.machine.cpu.memory_bandwidth_bytes_per_s = 100;
  host.workload.device_batch_link_s = 0;
  MachineProfile other;
  other.device.kind = DeviceKind::cuda;
  other.device.memory_bandwidth_bytes_per_s = 400;
  other.link.bandwidth_bytes_per_s = 20;
  const auto workload = on_machine(host, other).workload;
  EXPECT_DOUBLE_EQ(workload.train.mean_s, 1);
  EXPECT_DOUBLE_EQ(workload.transfer.mean_s, 3);
  EXPECT_DOUBLE_EQ(workload.device_batch_link_s, 3);
  EXPECT_DOUBLE_EQ(workload.device_batch.mean_s, 5.0 / 4 + 3);
  host.workload.transfer = {};  // a host device copies nothing
  EXPECT_DOUBLE_EQ(on_machine(host, other).workload.transfer.mean_s, 3);
  other.link.bandwidth_bytes_per_s.reset();  // unknown: as fast as a core copies, 60 / 30 s
  EXPECT_DOUBLE_EQ(on_machine(host, other).workload.transfer.mean_s, 2);
  EXPECT_DOUBLE_EQ(on_machine(host, other).workload.device_batch_link_s, 2);
}

TEST(OnMachine, FromADeviceToTheHost) {
  const auto workload = on_machine(measured(), MachineProfile{}).workload;
  EXPECT_EQ(workload.transfer.mean_s, 0);
  EXPECT_EQ(workload.device_batch_link_s, 0);
}

const StageScaling& scaling_of(const MovedProfile& moved, const std::string& stage) {
  for (const auto& scaling : moved.scalings) {
    if (scaling.stage == stage) {
      return scaling;
    }
  }
  throw std::out_of_range("no scaling of " + stage);
}

// The factors are those of ScalesByBandwidths.
TEST(MoveToMachine, TellsWhatScaledEachStage) {
  MachineProfile other = measured().machine;
  other.device.memory_bandwidth_bytes_per_s = 800;
  other.link.bandwidth_bytes_per_s = 50;
  const auto moved = move_to_machine(measured(), other);
  EXPECT_EQ(moved.scalings.size(), 4U);
  EXPECT_EQ(scaling_of(moved, "train").factor, 0.5);
  EXPECT_EQ(scaling_of(moved, "train").reason, "device memory bandwidth 4e-07 to 8e-07 GB/s");
  EXPECT_DOUBLE_EQ(scaling_of(moved, "transfer").factor.value(), 0.2);
  EXPECT_DOUBLE_EQ(scaling_of(moved, "device_batch").factor.value(), 1.6 / 5);
  EXPECT_THAT(scaling_of(moved, "device_batch").reason, HasSubstr("; link bandwidth"));
  EXPECT_EQ(scaling_of(moved, "cpu_batch").factor, std::nullopt);
  EXPECT_THAT(text_of(scaling_of(moved, "train")), testing::StartsWith("train x0.5 (device memory"));
  EXPECT_EQ(text_of(scaling_of(moved, "cpu_batch")),
            "cpu_batch kept (no specification gives a core's speed)");
}

TEST(MoveToMachine, TellsWhichNumberIsUnknown) {
  MachineProfile other;
  other.device.kind = DeviceKind::cuda;
  const auto moved = move_to_machine(measured(), other);
  for (const char* stage : {"cpu_batch", "transfer", "device_batch", "train"}) {
    EXPECT_EQ(scaling_of(moved, stage).factor, std::nullopt) << stage;
  }
  EXPECT_EQ(scaling_of(moved, "train").reason, "device memory bandwidth of the new machine is unknown");
  EXPECT_EQ(scaling_of(moved, "transfer").reason, "link bandwidth of the new machine is unknown");
  Profile without = measured();
  without.machine.device.memory_bandwidth_bytes_per_s.reset();
  EXPECT_EQ(scaling_of(move_to_machine(without, measured().machine), "train").reason,
            "device memory bandwidth of the measured machine is unknown");
}

TEST(MoveToMachine, TellsWhatAHostDidNotDo) {
  Profile host = measured();
  host.machine.device.kind = DeviceKind::host;
  host.workload.device_batch_link_s = 0;
  host.workload.transfer = {};
  MachineProfile other;
  other.device.kind = DeviceKind::cuda;
  other.link.bandwidth_bytes_per_s = 20e9;
  const auto transfer = scaling_of(move_to_machine(host, other), "transfer");
  EXPECT_TRUE(transfer.is_new);
  EXPECT_EQ(text_of(transfer), "transfer added (a batch's bytes over the new link of 20 GB/s)");
}

TEST(MoveToMachine, TellsWhatAHostDoesNotDo) {
  const auto moved = move_to_machine(measured(), MachineProfile{});
  EXPECT_EQ(scaling_of(moved, "transfer").reason, "a host device copies nothing");
  EXPECT_THAT(scaling_of(moved, "device_batch").reason, HasSubstr("a host device has no link"));
}

TEST(MoveToMachine, ForgetsHowPreciselyTheStagesWereMeasured) {
  Profile precise = measured();
  for (StageTime WorkloadProfile::*time : {&WorkloadProfile::cpu_batch, &WorkloadProfile::transfer,
                                           &WorkloadProfile::device_batch, &WorkloadProfile::train}) {
    (precise.workload.*time).interval_s = 0.1;
  }
  MachineProfile other = precise.machine;
  other.device.memory_bandwidth_bytes_per_s = 800;
  const auto moved = move_to_machine(precise, other);
  EXPECT_EQ(moved.profile.workload.train.interval_s, 0);
  EXPECT_EQ(moved.profile.workload.cpu_batch.interval_s, 0) << "kept, but of another machine's cores";
  EXPECT_EQ(moved_by(moved.scalings), MovedBy::bandwidths);
  EXPECT_EQ(moved_by({}), MovedBy::nothing);
}

// 60 bytes over a link of 30 bytes/s, of which 40 are feature rows; these from memory of 20 bytes/s. The
// first of two layers aggregates 16 edges to 8 destinations and multiplies two rows of each, of 1 column, to
// 5, forwards and for the weights' gradient: 2 * 16 * 5 * 2 operations.
TEST(DataSheet, BoundsStages) {
  Profile profile = measured();
  auto& workload = profile.workload;
  workload.feature_columns = 1;
  workload.feature_row_bytes = 4;
  workload.batch_vertices = 10;
  workload.job.hidden = 5;
  workload.job.fanouts = {2, 2};
  workload.hops = {{.destinations = 4, .edges = 8}, {.destinations = 8, .edges = 16}};
  profile.machine.device.memory_bandwidth_bytes_per_s = 20;
  profile.machine.link.bandwidth_bytes_per_s = 30;
  const auto by_memory = data_sheet_bounds(profile).value();
  EXPECT_DOUBLE_EQ(by_memory.transfer_s, 2);
  EXPECT_DOUBLE_EQ(by_memory.device_batch_link_s, 40.0 / 30);
  EXPECT_DOUBLE_EQ(by_memory.device_batch_s, 2);
  EXPECT_DOUBLE_EQ(by_memory.train_s, 2);
  profile.machine.device.peak_fp32_flops_per_s = 80;
  profile.machine.device.peak_tf32_flops_per_s = 128;
  EXPECT_DOUBLE_EQ(data_sheet_bounds(profile)->train_s, 320.0 / 80);
  workload.job.matmul_precision = plan::MatmulPrecision::high;
  EXPECT_DOUBLE_EQ(data_sheet_bounds(profile)->train_s, 320.0 / 128);
  profile.machine.device.kind = DeviceKind::host;
  EXPECT_FALSE(data_sheet_bounds(profile));
}

// A copy of 60 bytes over 5 bytes/s takes 12 s: as measured over 10 bytes/s, 6 s, it would take as long. One
// that was measured at 3 s, faster than its link, does not become faster than the new one.
TEST(DataSheet, BoundsMovedStages) {
  MachineProfile other = measured().machine;
  other.link.bandwidth_bytes_per_s = 5;
  EXPECT_DOUBLE_EQ(on_machine(measured(), other).workload.transfer.mean_s, 12);
  Profile faster = measured();
  faster.workload.transfer = {.mean_s = 3};
  const auto moved = move_to_machine(faster, other);
  EXPECT_DOUBLE_EQ(moved.profile.workload.transfer.mean_s, 12);
  EXPECT_EQ(scaling_of(moved, "transfer").factor, 4);
  EXPECT_EQ(scaling_of(moved, "transfer").bound_s, 12);
  EXPECT_THAT(text_of(scaling_of(moved, "transfer")), HasSubstr("; at least 1.2e+04 ms by data sheets"));
}

TEST(DataSheet, ProfilesAtTheBoundsHoldTogether) {
  for (const auto& machine : catalog()) {
    auto profile = on_machine(measured(), machine.machine);
    if (const auto bounds = data_sheet_bounds(profile)) {
      EXPECT_NO_THROW(check(at_data_sheet_bounds(profile, *bounds), machine.name)) << machine.name;
    }
  }
}

TEST(OnMachine, EveryMachineGivesAProfileThatHoldsTogether) {
  for (const auto& machine : catalog()) {
    EXPECT_NO_THROW(check(on_machine(measured(), machine.machine), machine.name)) << machine.name;
  }
}

}  // namespace
}  // namespace gnomon::profiles
