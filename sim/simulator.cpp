#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "schedule/policies.h"
#include "sim/costs.h"
#include "sim/hardware.h"
#include "sim/prediction.h"
#include "sim/simulated_machine.h"

namespace gnomon::sim {
namespace {

using schedule::Stage;

/// About what the epoch takes when nothing overlaps.
double scale_s(const MachineModel& model, std::int64_t batches) {
  const StageCosts& costs = model.costs;
  return static_cast<double>(std::max<std::int64_t>(batches, 1)) *
         (costs.cpu_batch_disk_s + costs.cpu_batch_s + costs.transfer_s + costs.device_batch_s +
          costs.device_gather_s + costs.train_s);
}

std::string busiest(const Prediction& prediction) {
  const std::pair<double, const char*> all[] = {{prediction.device_utilisation, "device"},
                                                {prediction.cpu_utilisation, "cpu"},
                                                {prediction.link_utilisation, "link"},
                                                {prediction.disk_utilisation, "disk"},
                                                {prediction.reduce_utilisation, "peers"}};
  const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
  return std::max_element(std::begin(all), std::end(all), less)->second;  // the first of equals
}

Prediction summary(const schedule::EpochLog& log, const SimulatedMachine& machine,
                   const MachineModel& model) {
  Prediction prediction;
  prediction.epoch_s = log.seconds();
  prediction.blocked_on_cpu_s = log.blocked_on_cpu_s;
  prediction.blocked_on_device_s = log.blocked_on_device_s;
  prediction.cpu_batches = log.cpu_batches;
  if (prediction.epoch_s > 0) {
    const auto share = [&](double busy_s, int lanes) {
      return busy_s / std::max(1, lanes) / prediction.epoch_s;
    };
    const double cpu_s = machine.busy_s(Stage::cpu_batch) + machine.busy_s(Stage::group_prepare);
    const double prepare_s = machine.busy_s(Stage::device_batch) + machine.busy_s(Stage::device_gather);
    const int links = (model.devices + model.devices_per_link - 1) / model.devices_per_link;
    // What prepares beside training has a share of the device, and training the rest.
    const double prepare_share = model.prepare_share > 0 && !model.host_device ? model.prepare_share : 1;
    prediction.cpu_utilisation = share(cpu_s, model.workers);
    prediction.link_utilisation = share(machine.link_s(), links);
    prediction.device_utilisation =
        std::min(1.0, share(prepare_s * prepare_share + machine.busy_s(Stage::train), model.devices));
    prediction.disk_utilisation = share(machine.disk_s(), 1);
    prediction.reduce_utilisation = share(machine.busy_s(Stage::all_reduce), 1);
  }
  prediction.bound_by = busiest(prediction);
  return prediction;
}

}  // namespace

Simulator::Simulator() { make_engine(); }

void Simulator::with_machine(const MachineModel& model, std::int64_t batches,
                             const std::function<void(schedule::Machine&)>& drive) {
  run_in_actor([&] {
    SimulatedMachine machine(model, scale_s(model, batches));
    drive(machine);
  });
}

Prediction Simulator::run(const plan::Plan& plan, const MachineModel& model, std::int64_t batches,
                          bool with_timeline) {
  Prediction prediction;
  run_in_actor([&] {
    SimulatedMachine machine(model, scale_s(model, batches));
    const auto log = schedule::run_epoch(plan, batches, machine);
    prediction = summary(log, machine, model);
    if (with_timeline) {
      prediction.timeline = machine.timeline();
    }
  });
  prediction.lower_bound_s = lower_bound_s(model, plan, batches);
  return prediction;
}

plan::Plan resolve_on(const profiles::Profile& profile, const plan::Plan& plan) {
  const bool host_device = profile.machine.device.kind == profiles::DeviceKind::host;
  const plan::Cores cores{profile.machine.cpu.cores, host_device, profile.machine.device.count};
  auto resolved = plan::resolve(plan, cores, "plan \"" + plan.name + "\"");
  if (resolved.schedule == plan::Schedule::factored && resolved.samplers == 0 && resolved.devices > 1) {
    resolved.samplers = best_samplers(costs_of_plan(profile, resolved).costs, resolved.devices);
  }
  return resolved;
}

Prediction predict(Simulator& simulator, const profiles::Profile& profile, const plan::Plan& plan,
                   bool with_timeline, std::uint64_t seed) {
  const auto resolved = resolve_on(profile, plan);
  Prediction prediction;
  auto memory = costs_of_plan(profile, resolved).memory;
  if (memory.shortage == Shortage::none) {
    prediction = simulator.run(resolved, machine_model(profile, resolved, true, seed),
                               profile.workload.batches, with_timeline);
  } else {
    prediction.epoch_s = prediction.lower_bound_s = std::numeric_limits<double>::infinity();
    prediction.bound_by = "memory";
  }
  prediction.memory = memory;
  return prediction;
}

}  // namespace gnomon::sim
