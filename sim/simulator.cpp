#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

#include "schedule/policies.h"
#include "sim/costs/costs.h"
#include "sim/hardware/hardware.h"
#include "sim/hardware/simulated_machine.h"
#include "sim/hardware/steady_state.h"
#include "sim/prediction.h"
#include "sim/running.h"

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

/// Shares of the epoch, whose times and counts are there already.
void fill_utilisation(Prediction& prediction, const Totals& totals, const MachineModel& model) {
  if (prediction.epoch_s > 0) {
    const auto share = [&](double busy_s, int lanes) {
      return busy_s / std::max(1, lanes) / prediction.epoch_s;
    };
    const auto busy_s = [&](Stage stage) { return totals.busy_s[static_cast<std::size_t>(stage)]; };
    const double cpu_s = busy_s(Stage::cpu_batch) + busy_s(Stage::group_prepare);
    const double prepare_s = busy_s(Stage::device_batch) + busy_s(Stage::device_gather);
    const int links = (model.devices + model.devices_per_link - 1) / model.devices_per_link;
    // What prepares beside training has a share of the device, and training the rest.
    const double prepare_share = model.prepare_share > 0 && !model.host_device ? model.prepare_share : 1;
    prediction.cpu_utilisation = share(cpu_s, model.workers);
    prediction.link_utilisation = share(totals.link_s, links);
    prediction.device_utilisation =
        std::min(1.0, share(prepare_s * prepare_share + busy_s(Stage::train), model.devices));
    prediction.disk_utilisation = share(totals.disk_s, 1);
    prediction.reduce_utilisation = share(busy_s(Stage::all_reduce), 1);
  }
  prediction.bound_by = busiest(prediction);
}

Prediction times_of(const schedule::EpochLog& log) {
  Prediction prediction;
  prediction.epoch_s = log.seconds();
  prediction.blocked_on_cpu_s = log.blocked_on_cpu_s;
  prediction.blocked_on_device_s = log.blocked_on_device_s;
  prediction.cpu_batches = log.cpu_batches;
  return prediction;
}

/// An epoch by arithmetic alone.
struct ComputedEpoch {
  schedule::EpochLog log;
  Totals totals;
};

/// `prepare`, if any, is called with the machine before the epoch begins.
ComputedEpoch compute_epoch(const plan::Plan& plan, const MachineModel& model, std::int64_t batches,
                            const std::function<void(SimulatedMachine&)>& prepare) {
  SimulatedMachine machine(
      model, make_computed_hardware(shared_of(model), slots_of(model), scale_s(model, batches)));
  if (prepare) {
    prepare(machine);
  }
  const auto log = schedule::run_epoch(plan, batches, machine);
  return {log, machine.totals()};
}

/// What an epoch did that is longer by so many periods.
Totals longer(Totals totals, const Period& period, double periods, const plan::Plan& plan,
              const MachineModel& model) {
  const auto count = [&](Stage stage) { return periods * period.counts[static_cast<std::size_t>(stage)]; };
  for (std::size_t stage = 0; stage < totals.busy_s.size(); ++stage) {
    totals.busy_s[stage] += periods * period.busy_s[stage];
  }
  const StageCosts& costs = model.costs;
  totals.link_s += count(Stage::transfer) * costs.transfer_s;
  totals.disk_s += count(Stage::cpu_batch) * costs.cpu_batch_disk_s / model.disk_depth;
  if (!model.host_device) {
    const double groups = periods * static_cast<double>(period.updates) / plan.super_batch;
    totals.link_s +=
        count(Stage::device_batch) * std::min(costs.device_batch_link_s, costs.device_batch_s) +
        count(Stage::device_gather) * std::min(costs.device_gather_link_s, costs.device_gather_s);
    totals.link_s += plan.schedule == plan::Schedule::super_batch ? groups * costs.group_transfer_s : 0;
  }
  return totals;
}

/// What a period may be wrong by, of the whole epoch: a small part of what the quick mode promises, as
/// errors may add up.
constexpr double period_tolerance = 3e-5;

/// An epoch of which so many periods were left out.
Prediction with_periods(const ComputedEpoch& part, const Period& period, std::int64_t periods,
                        const plan::Plan& plan, const MachineModel& model) {
  const auto times = static_cast<double>(periods);
  Prediction prediction = times_of(part.log);
  const double part_s = prediction.epoch_s;
  prediction.epoch_s += times * period.seconds;
  prediction.cpu_batches += std::llround(times * period.counts[static_cast<std::size_t>(Stage::cpu_batch)]);
  const double ratio = part_s > 0 ? prediction.epoch_s / part_s : 1;
  prediction.blocked_on_cpu_s *= ratio;
  prediction.blocked_on_device_s *= ratio;
  fill_utilisation(prediction, longer(part.totals, period, times, plan, model), model);
  return prediction;
}

/// Ends an epoch that has come to repeat itself.
struct Repeats {
  Period period;
  std::int64_t trained = 0;
};

/// Looks for a period after some trainings, and again after twice as many, and throws it.
void watch_for_period(SimulatedMachine& machine, std::int64_t first, std::int64_t batches) {
  constexpr std::int64_t never = -1;
  const auto until = [batches](std::int64_t trained) { return 2 * trained < batches ? trained : never; };
  machine.watch(until(first), [&machine, batches, until, trained = first]() mutable {
    const auto period = find_period(machine.timeline_so_far(), batches - trained, period_tolerance);
    if (period) {
      throw Repeats{*period, trained};
    }
    trained *= 2;
    return until(trained);
  });
}

/// The epoch from a part of it that is shorter by whole periods.
Prediction predict_by_period(const plan::Plan& plan, const MachineModel& model, std::int64_t batches,
                             const Repeats& found) {
  const std::int64_t updates = found.period.updates;
  const std::int64_t periods = (batches - found.trained + updates - 1) / updates;
  const ComputedEpoch part = compute_epoch(plan, model, batches - periods * updates, nullptr);
  return with_periods(part, found.period, periods, plan, model);
}

}  // namespace

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

plan::Plan resolve_on(const profiles::Profile& profile, const plan::Plan& plan) {
  auto resolved = plan::resolve(plan, profiles::cores_of(profile), "plan \"" + plan.name + "\"");
  if (resolved.schedule == plan::Schedule::factored && resolved.samplers == 0 && resolved.devices > 1) {
    resolved.samplers = best_samplers(costs_of_plan(profile, resolved).costs, resolved.devices);
  }
  return resolved;
}

Prediction run_quickly(const plan::Plan& plan, const MachineModel& model, std::int64_t batches) {
  if (model.costs_of) {
    throw std::invalid_argument("batches that differ do not repeat themselves");
  }
  const auto watch = [&](SimulatedMachine& machine) {
    if (can_repeat(plan)) {
      watch_for_period(machine, least_batches(plan), batches);
    }
  };
  Prediction prediction;
  try {
    const ComputedEpoch whole = compute_epoch(plan, model, batches, watch);
    prediction = times_of(whole.log);
    fill_utilisation(prediction, whole.totals, model);
  } catch (const Repeats& found) {
    prediction = predict_by_period(plan, model, batches, found);
  }
  prediction.lower_bound_s = lower_bound_s(model, plan, batches);
  return prediction;
}

namespace {

/// What is told of a plan that does not fit into memory.
Prediction impossible() {
  Prediction prediction;
  prediction.epoch_s = prediction.lower_bound_s = std::numeric_limits<double>::infinity();
  prediction.bound_by = "memory";
  return prediction;
}

/// Predicts a plan that fits by `run`, which is given the resolved plan and its costs.
template <typename Run>
Prediction predict_where_it_fits(const profiles::Profile& profile, const plan::Plan& plan, const Run& run) {
  const auto resolved = resolve_on(profile, plan);
  const auto [costs, memory] = costs_of_plan(profile, resolved);
  auto prediction = memory.shortage != Shortage::none ? impossible() : run(resolved, costs);
  prediction.memory = memory;
  if (memory.shortage == Shortage::none) {
    prediction.use = use_of(profile, resolved, prediction);
  }
  return prediction;
}

}  // namespace

Prediction predict(Simulator& simulator, const profiles::Profile& profile, const plan::Plan& plan,
                   bool with_timeline, std::uint64_t seed) {
  return predict_where_it_fits(profile, plan, [&](const plan::Plan& resolved, const StageCosts& costs) {
    return simulator.run(resolved, machine_model(profile, resolved, costs, true, seed),
                         profile.workload.batches, with_timeline);
  });
}

Prediction predict_quickly(const profiles::Profile& profile, const plan::Plan& plan) {
  return predict_where_it_fits(profile, plan, [&](const plan::Plan& resolved, const StageCosts& costs) {
    return run_quickly(resolved, machine_model(profile, resolved, costs, false, 0), profile.workload.batches);
  });
}

}  // namespace gnomon::sim
