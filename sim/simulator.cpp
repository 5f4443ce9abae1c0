#include "sim/simulator.h"

#include <algorithm>
#include <utility>

#include "schedule/run_epoch.h"
#include "sim/bound.h"
#include "sim/hardware/hardware.h"
#include "sim/hardware/simulated_machine.h"
#include "sim/utilisation.h"

namespace gnomon::sim {

Simulator::Simulator() { make_engine(); }

void Simulator::with_machine(const MachineModel& model, std::int64_t batches,
                             const std::function<void(schedule::Machine&)>& drive) {
  run_in_actor([&] {
    SimulatedMachine machine(
        model, make_solved_hardware(shared_of(model), slots_of(model), scale_s(model, batches)));
    drive(machine);
  });
}

Prediction Simulator::run(const plan::Plan& plan, const MachineModel& model, std::int64_t batches,
                          bool with_timeline) {
  Prediction prediction;
  run_in_actor([&] {
    SimulatedMachine machine(
        model, make_solved_hardware(shared_of(model), slots_of(model), scale_s(model, batches)));
    prediction = times_of(schedule::run_epoch(plan, batches, machine));
    fill_utilisation(prediction, machine.totals(), model);
    if (with_timeline) {
      prediction.timeline = machine.timeline();
    }
  });
  prediction.lower_bound_s = lower_bound_s(model, plan, batches);
  return prediction;
}

}  // namespace gnomon::sim
