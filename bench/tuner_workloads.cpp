#include "bench/tuner_workloads.h"

#include <cmath>
#include <optional>

#include "base/philox.h"

namespace gnomon::bench {
namespace {

/// A machine with one GPU or more, and times of the stages relative to training's: CPU preparation 0.5 to 30
/// (of one worker), device preparation 0.2 to 4 of which half or more reads over the link, a copy 0.05
/// to 1.5.
profiles::Profile random_profile(int number) {
  base::RandomStream random(
      {.seed = 8, .purpose = base::Purpose::test, .epoch = static_cast<std::uint64_t>(number)});
  const auto between = [&](double min, double max) { return min * std::pow(max / min, random.uniform()); };
  profiles::Profile profile;
  auto& machine = profile.machine;
  machine.cpu.cores = 16 + static_cast<int>(random.below(5));
  machine.cpu.memory_bytes = 2.56e11;
  machine.cpu.memory_bandwidth_bytes_per_s = between(3e10, 2e11);
  machine.cpu.copy_bandwidth_bytes_per_s = 5e9;
  machine.device.kind = profiles::DeviceKind::cuda;
  machine.device.memory_bytes = between(6e9, 4.8e10);
  machine.device.memory_bandwidth_bytes_per_s = 9e11;
  machine.link.bandwidth_bytes_per_s = between(8e9, 2.4e10);
  auto& workload = profile.workload;
  workload.vertices = static_cast<std::int64_t>(between(1e6, 1e8));
  workload.edges = 15 * workload.vertices;
  workload.feature_columns = 128;
  workload.feature_row_bytes = 512;
  workload.batches = 60;
  workload.batch_vertices = between(2e4, 4e5);
  workload.batch_edges = 2 * workload.batch_vertices;
  workload.batch_bytes = 512 * workload.batch_vertices + 8 * workload.batch_edges;
  const double spread = between(0.02, 0.2);
  const auto stage = [&](double mean_s) {
    return profiles::StageTime{.mean_s = mean_s, .deviation_s = spread * mean_s};
  };
  const double train_s = between(5e-3, 5e-2);
  workload.train = stage(train_s);
  workload.cpu_batch = stage(train_s * between(0.5, 30));
  workload.device_batch = stage(train_s * between(0.2, 4));
  workload.transfer = stage(train_s * between(0.05, 1.5));
  workload.device_batch_link_s = workload.device_batch.mean_s * (0.5 + 0.5 * random.uniform());
  workload.worker_efficiency = {{1, 1}, {machine.cpu.cores, between(0.4, 0.95)}};
  workload.features.skew = workload.topology.skew = between(0.3, 0.8);
  const auto contention = [&](const char*, std::optional<double>& slowdown, base::Range) {
    slowdown = 1 + 0.15 * random.uniform() * random.uniform();
  };
  profiles::Contention::fields(machine.contention, contention);
  workload.parts.cpu_batch_memory_bytes = 3 * workload.batch_bytes;
  workload.parts.transfer_memory_bytes = workload.batch_bytes;
  return profile;
}

/// Even workloads: the plans that gnomon runs. Odd ones: all exact plans that can be simulated, on a coarser
/// grid of numbers.
tuner::SpaceRequest request_of(const profiles::Profile& profile, int number) {
  tuner::SpaceRequest request;
  request.cores = profiles::cores_of(profile);
  request.batches = profile.workload.batches;
  request.constraints = {tuner::exact_only(), tuner::fits_memory(profile)};
  if (number % 2 == 0) {
    request.constraints.push_back(tuner::runnable_only());
    return request;
  }
  request.values = {{"workers", {"1", "3", "6", "9", "12"}}, {"cpu_buffer", {"1", "4", "16"}},
                    {"device_buffer", {"1", "3", "10"}},     {"look_ahead", {"0", "6", "16", "48"}},
                    {"cache.budget", {"0.2", "0.5", "1"}},   {"prepare_share", {"0", "0.1", "0.2", "0.4"}},
                    {"super_batch", {"1", "4", "16"}},       {"cpu_share", {"0.2", "0.4", "0.6", "0.8"}},
                    {"topology", {"host", "device"}},        {"features", {"host", "device"}}};
  return request;
}

}  // namespace

Workload::Workload(int id)
    : number(id),
      profile(random_profile(id)),
      space(tuner::make_space(request_of(profile, id))),
      facts(profile, space) {}

}  // namespace gnomon::bench
