#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "sim/predict.h"
#include "tests/fixtures/profiles.h"

// A short epoch of every preset, stage by stage, on a machine with two GPUs. The files in golden/ are what it
// was when somebody last looked; a change shows in them what it does to which schedule. To write them anew,
// which the test reports as a failure so that nobody does it unawares:
//
//     GNOMON_WRITE_GOLDEN=1 build/release/tests/test_sim --gtest_filter='*Golden*'

namespace gnomon::sim {
namespace {

/// Few, but more than two super-batches where the schedule goes by them.
std::int64_t batches_of(const plan::Plan& plan) {
  return plan.schedule == plan::Schedule::super_batch ? 2 * plan.super_batch + 2 : 10;
}

profiles::Profile two_gpus(std::int64_t batches) {
  auto profile = test::profile_of(profiles::DeviceKind::cuda, 4, batches, {0.06, 0.007, 0.016, 0.02});
  auto& machine = profile.machine;
  machine.cpu.memory_bytes = 64e9;
  machine.cpu.copy_bandwidth_bytes_per_s = 8e9;
  machine.device = {.kind = profiles::DeviceKind::cuda,
                    .name = "GPU",
                    .memory_bytes = 8e9,
                    .count = 2,
                    .memory_bandwidth_bytes_per_s = 9e11};
  machine.link = {.bandwidth_bytes_per_s = 12e9, .devices_per_switch = 2};
  machine.peers = {.bandwidth_bytes_per_s = 5e10, .clique = 2};
  machine.disk = {.bandwidth_bytes_per_s = 3e9, .random_reads_per_s = 6e5};
  machine.contention.cpu_batch_beside_device_batch = 1.2;
  auto& workload = profile.workload;
  workload.vertices = 10000000;
  workload.edges = 150000000;
  workload.feature_columns = 200;
  workload.feature_row_bytes = 800;
  workload.batch_vertices = 100000;
  workload.batch_edges = 400000;
  workload.batch_bytes = 8.32e7;
  workload.device_batch_link_s = 0.012;
  workload.parts.cpu_sample_s = 0.025;
  workload.parts.device_sample_s = 0.005;
  workload.parts.device_sample_link_s = 0.002;
  workload.features.skew = 0.6;
  workload.topology.skew = 0.4;
  return profile;
}

std::string trace_of(const plan::Plan& plan) {
  Simulator simulator;
  const auto prediction = predict(simulator, two_gpus(batches_of(plan)), plan, true);
  std::ostringstream text;
  text.precision(6);
  text << "epoch " << prediction.epoch_s << " s, at least " << prediction.lower_bound_s << " s, bound by "
       << prediction.bound_by << "\n";
  for (const auto& span : prediction.timeline) {
    text << schedule::name_of(span.stage) << " " << span.batch << " device " << span.device << " lane "
         << span.worker << ": " << span.begin_s << " to " << span.end_s << "\n";
  }
  return text.str();
}

const std::filesystem::path folder = std::string(SOURCE_DIR) + "/tests/sim/golden";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Golden, EveryFileIsOfAPreset) {
  std::set<std::string> names;
  for (const auto& plan : plan::presets()) {
    names.insert(plan.name + ".txt");
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_TRUE(names.contains(entry.path().filename())) << entry.path() << " is of no preset";
  }
}

TEST(Golden, TracesOfEveryPresetAreThoseOnFile) {
  for (const auto& plan : plan::presets()) {
    const auto path = folder / (plan.name + ".txt");
    const auto trace = trace_of(plan);
    const auto golden = text_of(path);
    EXPECT_EQ(trace, golden) << path << " (GNOMON_WRITE_GOLDEN=1 writes it anew)";
    if (trace != golden && std::getenv("GNOMON_WRITE_GOLDEN") != nullptr) {
      std::ofstream(path) << trace;
      ADD_FAILURE() << path
                    << " was written anew; look at the difference, and run without GNOMON_WRITE_GOLDEN";
    }
  }
}

}  // namespace
}  // namespace gnomon::sim
