#include "sim/costs/model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/philox.h"
#include "profiles/scaling.h"
#include "schedule/machine.h"
#include "sim/costs/costs.h"

namespace gnomon::sim {
namespace {

using profiles::StageTime;
using profiles::WorkloadProfile;
using schedule::Stage;

/// Number of batches with individually drawn costs; after them the draws repeat.
constexpr std::int64_t most_draws = 1 << 16;

/// A standard normal number (Box and Muller 1958).
double normal(std::uint64_t seed, Stage stage, std::int64_t batch) {
  base::RandomStream stream({.seed = seed,
                             .purpose = base::Purpose::simulate,
                             .batch = static_cast<std::uint64_t>(batch),
                             .level = static_cast<std::uint32_t>(stage)});
  const double radius = std::sqrt(-2 * std::log1p(-stream.uniform()));
  return radius * std::cos(2 * std::numbers::pi * stream.uniform());
}

/// Each batch's time relative to the mean: log-normal with the measured deviation, as times are positive and
/// right-skewed. Normalised to mean 1 over the epoch, so that an epoch contains the measured amount of work.
std::vector<double> draw_spread(const StageTime& time, Stage stage, std::int64_t batches,
                                std::uint64_t seed) {
  const double relative = time.mean_s > 0 ? time.deviation_s / time.mean_s : 0;
  const double sigma = std::sqrt(std::log1p(relative * relative));
  std::vector<double> ratios(static_cast<std::size_t>(batches));
  double sum = 0;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    double& ratio = ratios[static_cast<std::size_t>(batch)];
    ratio = sigma > 0 ? std::exp(sigma * normal(seed, stage, batch)) : 1;
    sum += ratio;
  }
  for (double& ratio : ratios) {
    ratio *= static_cast<double>(batches) / sum;
  }
  return ratios;
}

double handover_s(const profiles::Profile& profile, const plan::Plan& plan) {
  if (plan.handover_copies == 0) {
    return 0;
  }
  const auto bandwidth = profile.machine.cpu.copy_bandwidth_bytes_per_s;
  if (!bandwidth) {
    throw base::InputError(
        "profile: machine.cpu.copy_bandwidth_bytes_per_s",
        "is unknown; the hand-over copies of plan \"" + plan.name + "\" need a measured bandwidth");
  }
  // As in preparation, workers share the host's memory.
  const double workers =
      profiles::worker_efficiency_at(profile.workload.worker_efficiency, plan.workers * plan.worker_threads);
  return plan.handover_copies * profile.workload.batch_bytes / (*bandwidth * workers);
}

/// At most the time gained.
int prepare_threads(const WorkloadProfile& workload, const plan::Plan& plan) {
  const int threads = plan::preparing_threads(plan);
  return std::clamp(static_cast<int>(std::ceil(preparing_speedup(workload, threads))), 1, threads);
}

/// The costs of each batch of an epoch.
std::vector<StageCosts> draw_costs(const WorkloadProfile& workload, const StageCosts& mean,
                                   double extra_cpu_s, std::uint64_t seed) {
  const auto batches = std::min(workload.batches, most_draws);
  const auto cpu = draw_spread(workload.cpu_batch, Stage::cpu_batch, batches, seed);
  const auto transfer = draw_spread(workload.transfer, Stage::transfer, batches, seed);
  const auto device = draw_spread(workload.device_batch, Stage::device_batch, batches, seed);
  const auto train = draw_spread(workload.train, Stage::train, batches, seed);
  std::vector<StageCosts> costs(cpu.size());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    StageCosts& here = costs[i] = mean;
    here.cpu_batch_s = mean.cpu_batch_s * cpu[i] + extra_cpu_s;
    here.cpu_batch_disk_s *= cpu[i];
    here.transfer_s *= transfer[i];
    here.train_s *= train[i];
    for (double StageCosts::*part : {&StageCosts::device_batch_s, &StageCosts::device_batch_link_s,
                                     &StageCosts::device_batch_peer_s, &StageCosts::device_gather_s,
                                     &StageCosts::device_gather_link_s, &StageCosts::device_gather_peer_s}) {
      here.*part *= device[i];
    }
  }
  return costs;
}

/// A stage's demand as a share of the host's memory bandwidth.
std::array<double, 4> memory_shares(const profiles::Profile& profile, const StageCosts& costs) {
  const auto bandwidth = profile.machine.cpu.memory_bandwidth_bytes_per_s;
  const auto& parts = profile.workload.parts;
  const auto share = [bandwidth](std::optional<double> bytes, double seconds) {
    return bandwidth && bytes && seconds > 0 ? std::min(1.0, *bytes / seconds / *bandwidth) : 0.0;
  };
  return {share(parts.cpu_batch_memory_bytes, costs.cpu_batch_s),
          share(parts.transfer_memory_bytes, costs.transfer_s),
          share(parts.device_batch_memory_bytes, costs.device_batch_s), 0.0};
}

/// The measured slowdowns at this plan's share of a GPU. A neighbour on a share of the thread slots slows
/// training down in proportion to that share; on the host's cores it is a number of threads instead. Between
/// preparation that reads all data over the link and preparation that reads none, the slowdown is linear.
profiles::Contention contention_at(const profiles::Profile& profile, const plan::Plan& plan,
                                   const StageCosts& costs) {
  auto contention = profile.machine.contention;
  auto& training = contention.train_beside_device_batch;
  if (!training || !plan.prepares_beside_training() || plan::runs_on_cores(profile.machine.device.kind)) {
    return contention;
  }
  const double usual_s = profile.workload.device_batch_link_s;
  if (const auto resident = contention.train_beside_resident_batch; resident && usual_s > 0) {
    const double reads = std::min(1.0, costs.device_batch_link_s / usual_s);
    training = *resident + reads * (*training - *resident);
  }
  training = 1 + (*training - 1) * plan.prepare_share / profiles::measured_prepare_share;
  return contention;
}

}  // namespace

MachineModel machine_model(const profiles::Profile& profile, const plan::Plan& plan, bool spread,
                           std::uint64_t seed) {
  return machine_model(profile, plan, costs_of_plan(profile, plan).costs, spread, seed);
}

MachineModel machine_model(const profiles::Profile& profile, const plan::Plan& plan, const StageCosts& costs,
                           bool spread, std::uint64_t seed) {
  MachineModel model;
  model.cores = profile.machine.cpu.cores;
  model.workers = plan.workers;
  model.worker_threads = plan.worker_threads;
  model.devices = plan.devices;
  model.devices_per_link = profile.machine.link.devices_per_switch;
  model.devices_per_clique = profile.machine.peers.clique;
  model.disk_depth = profile.machine.disk.queue_depth;
  model.prepare_share = plan.prepare_share;
  model.gathers_beside_training = plan.schedule == plan::Schedule::factored && plan.devices > 1;
  model.host_device = profile.machine.device.kind == profiles::DeviceKind::host;
  model.emulated_device = profile.machine.device.kind == profiles::DeviceKind::emulated;
  model.device_threads = plan.device_threads;
  model.prepare_threads = prepare_threads(profile.workload, plan);
  model.contention = contention_at(profile, plan, costs);
  model.costs = costs;
  model.memory_shares = memory_shares(profile, model.costs);
  const double extra_cpu_s = handover_s(profile, plan);
  if (spread) {
    const auto drawn = std::make_shared<const std::vector<StageCosts>>(
        draw_costs(profile.workload, model.costs, extra_cpu_s, seed));
    model.costs_of = [drawn](std::int64_t batch) {
      return (*drawn)[static_cast<std::size_t>(batch) % drawn->size()];
    };
  }
  model.costs.cpu_batch_s += extra_cpu_s;
  return model;
}

}  // namespace gnomon::sim
