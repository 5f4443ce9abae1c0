#include "sim/costs/all_reduce.h"

#include <algorithm>

#include "sim/costs/memory.h"
#include "sim/costs/needed.h"

namespace gnomon::sim {
namespace {

void update_once(StageCosts& costs, const profiles::Profile& profile, int trainers) {
  const auto& parts = profile.workload.parts;
  if (!plan::runs_on_cores(profile.machine.device.kind) || !parts.update_s) {
    return;
  }
  costs.train_s = std::max(0.0, costs.train_s - *parts.update_s);
  costs.all_reduce_cores_s = *parts.update_s + (trainers - 1) * parts.average_s.value_or(0);
  costs.all_reduce_s += costs.all_reduce_cores_s;
}

}  // namespace

void add_all_reduce(StageCosts& costs, const profiles::Profile& profile, const plan::Plan& plan) {
  const bool is_factored = plan.schedule == plan::Schedule::factored;
  const int trainers = plan.devices - (is_factored ? std::max(1, plan.samplers) : 0);
  if (plan.devices < 2 || trainers < 2) {
    return;
  }
  const auto& peers = profile.machine.peers;
  const auto& link = profile.machine.link;
  const bool linked = peers.bandwidth_bytes_per_s > 0 && peers.clique >= plan.devices;
  const double bandwidth =
      linked ? peers.bandwidth_bytes_per_s
             : needed(link.bandwidth_bytes_per_s, "machine.link.bandwidth_bytes_per_s", plan) /
                   std::min(plan.devices, link.devices_per_switch);
  costs.all_reduce_s = 2.0 * (trainers - 1) / trainers * parameters_bytes(profile.workload) / bandwidth;
  update_once(costs, profile, trainers);
}

}  // namespace gnomon::sim
