#include <algorithm>

#include "schedule/policies.h"
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
         (costs.cpu_batch_s + costs.transfer_s + costs.device_batch_s + costs.train_s);
}

std::string busiest(const Prediction& prediction) {
  if (prediction.device_utilisation >= std::max(prediction.cpu_utilisation, prediction.link_utilisation)) {
    return "device";
  }
  return prediction.cpu_utilisation >= prediction.link_utilisation ? "cpu" : "link";
}

Prediction summary(const schedule::EpochLog& log, const SimulatedMachine& machine, int workers) {
  Prediction prediction;
  prediction.epoch_s = log.seconds();
  prediction.blocked_on_cpu_s = log.blocked_on_cpu_s;
  prediction.blocked_on_device_s = log.blocked_on_device_s;
  prediction.cpu_batches = log.cpu_batches;
  if (prediction.epoch_s > 0) {
    const double device_s = machine.busy_s(Stage::device_batch) + machine.busy_s(Stage::train);
    prediction.cpu_utilisation = machine.busy_s(Stage::cpu_batch) / std::max(1, workers) / prediction.epoch_s;
    prediction.link_utilisation = machine.link_s() / prediction.epoch_s;
    prediction.device_utilisation = device_s / prediction.epoch_s;
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
    prediction = summary(log, machine, model.workers);
    if (with_timeline) {
      prediction.timeline = machine.timeline();
    }
  });
  prediction.lower_bound_s = lower_bound_s(model, plan.route, batches);
  return prediction;
}

Prediction predict(Simulator& simulator, const profiles::Profile& profile, const plan::Plan& plan,
                   bool with_timeline, std::uint64_t seed) {
  const bool host_device = profile.machine.device.kind == profiles::DeviceKind::host;
  const auto resolved =
      plan::resolve(plan, {profile.machine.cpu.cores, host_device}, "plan \"" + plan.name + "\"");
  return simulator.run(resolved, machine_model(profile, resolved, true, seed), profile.workload.batches,
                       with_timeline);
}

}  // namespace gnomon::sim
