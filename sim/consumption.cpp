#include "sim/consumption.h"

#include <cmath>

#include "sim/prediction.h"

namespace gnomon::sim {
namespace {

bool knows_power(const profiles::MachineProfile& machine) {
  const bool has_gpu = machine.device.kind == profiles::DeviceKind::cuda;
  return machine.running.core_w && (!has_gpu || machine.running.device_w);
}

}  // namespace

Consumption consumption_of(const profiles::Profile& profile, const plan::Plan& plan,
                           const Prediction& prediction) {
  constexpr double seconds_per_hour = 3600;
  const auto& machine = profile.machine;
  const auto& running = machine.running;
  Consumption consumption;
  if (!std::isfinite(prediction.epoch_s)) {
    return consumption;
  }
  if (running.price_per_hour) {
    consumption.price = prediction.epoch_s / seconds_per_hour * *running.price_per_hour;
  }
  if (!knows_power(machine)) {
    return consumption;
  }
  double cores = prediction.cpu_utilisation * plan.workers * plan.worker_threads;
  double devices = prediction.device_utilisation * plan.devices;
  if (plan::runs_on_cores(machine.device.kind)) {
    const bool copies = !plan::has_link(machine.device.kind);  // a link does it without a core
    cores += devices * plan.device_threads + (copies ? prediction.link_utilisation : 0);
    devices = 0;
  }
  consumption.energy_j = prediction.epoch_s * (running.idle_w.value_or(0) + *running.core_w * cores +
                                               running.device_w.value_or(0) * devices);
  return consumption;
}

}  // namespace gnomon::sim
