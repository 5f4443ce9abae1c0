#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::test {

/// A workload on a machine that has everything: devices on switches, some linked, a disk, host memory to
/// contend for. `spread`: of the batches' times, over their means.
inline profiles::Profile random_profile(std::mt19937_64& random, std::int64_t batches, double spread) {
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto between = [&](double least, double most) {
    return least * std::pow(most / least, uniform(random));
  };
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  profiles::Profile profile;
  auto& machine = profile.machine;
  machine.cpu.cores = 1 + up_to(16);
  machine.cpu.copy_bandwidth_bytes_per_s = 1e9;
  machine.cpu.memory_bandwidth_bytes_per_s = 2e10;
  machine.device.kind = random() % 3 == 0 ? profiles::DeviceKind::host : profiles::DeviceKind::cuda;
  const bool is_gpu = machine.device.kind == profiles::DeviceKind::cuda;
  machine.device.count = is_gpu ? up_to(4) : 1;
  machine.device.memory_bytes = is_gpu ? std::optional(3e9) : std::nullopt;
  machine.device.memory_bandwidth_bytes_per_s = 5e11;
  machine.link = {.bandwidth_bytes_per_s = 1e10, .devices_per_switch = up_to(2)};
  machine.peers = {.bandwidth_bytes_per_s = random() % 2 * 1e11, .clique = up_to(4)};
  machine.disk = {.bandwidth_bytes_per_s = 2e9, .random_reads_per_s = 5e6};
  auto& workload = profile.workload;
  workload.vertices = 2000000;
  workload.edges = 30000000;
  workload.feature_columns = 100;
  workload.feature_row_bytes = 400;
  workload.batches = batches;
  workload.batch_vertices = 20000;
  workload.batch_edges = 60000;
  workload.batch_bytes = 8.5e6;
  const auto stage = [&](double mean_s) {
    return profiles::StageTime{.mean_s = mean_s, .deviation_s = spread * mean_s};
  };
  const double train_s = between(2e-3, 5e-2);
  workload.train = stage(train_s);
  workload.cpu_batch = stage(train_s * between(0.3, 20));
  workload.transfer = stage(train_s * between(0.05, 2));
  workload.device_batch = stage(train_s * between(0.2, 4));
  workload.device_batch_link_s = is_gpu ? workload.device_batch.mean_s * 0.7 : 0;
  workload.features.skew = workload.topology.skew = 0.6;
  if (random() % 2 == 0) {
    const auto draw = [&](std::string_view name, std::optional<double>& slowdown, base::Range) {
      // add_slowdowns_by_workers() sets the others.
      if (!name.ends_with("_workers") && !name.starts_with("workers_")) {
        slowdown = 0.95 + uniform(random);
      }
    };
    profiles::Contention::fields(machine.contention, draw);
    workload.parts.cpu_batch_memory_bytes = 4e7;
    workload.parts.transfer_memory_bytes = 9e6;
  }
  return profile;
}

/// Sets random slowdowns by all workers together.
inline void add_slowdowns_by_workers(std::mt19937_64& random, profiles::Contention& contention) {
  std::uniform_real_distribution<double> uniform(0, 1);
  for (auto* slowdown : {&contention.transfer_beside_workers, &contention.device_batch_beside_workers,
                         &contention.train_beside_workers, &contention.workers_beside_device}) {
    *slowdown = 0.95 + uniform(random);
  }
}

/// Every preset with random buffers, workers and devices.
inline std::vector<plan::Plan> random_presets(std::mt19937_64& random, const profiles::Profile& profile) {
  const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  auto plans = plan::presets();
  for (auto& plan : plans) {
    const bool is_single = plan.schedule == plan::Schedule::sequential && plan.uses_cpu_route();
    plan.workers = !plan.uses_workers() ? 0 : is_single ? 1 : up_to(profile.machine.cpu.cores - 1);
    plan.device_threads = 1;
    plan.devices =
        profile.machine.device.kind == profiles::DeviceKind::cuda ? up_to(profile.machine.device.count) : 1;
    plan.cpu_buffer = up_to(6);
    plan.device_buffer = up_to(10);
    plan.look_ahead = up_to(21) - 1;
    plan.copy_during_device_batch = random() % 2 == 0;
  }
  return plans;
}

}  // namespace gnomon::test
