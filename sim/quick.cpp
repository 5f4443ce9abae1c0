#include "sim/quick.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <variant>

#include "schedule/run_epoch.h"
#include "sim/bound.h"
#include "sim/hardware/hardware.h"
#include "sim/hardware/simulated_machine.h"
#include "sim/period.h"
#include "sim/utilisation.h"

namespace gnomon::sim {
namespace {

using schedule::Stage;

/// An epoch by arithmetic alone.
struct ComputedEpoch {
  schedule::EpochLog log;
  Totals totals;
};

/// `prepare`, if set, is called with the machine before the epoch starts.
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

/// The totals of an epoch longer by `periods` periods.
Totals longer(Totals totals, const Period& period, double periods, const plan::Plan& plan,
              const MachineModel& model) {
  const auto count = [&](Stage stage) { return periods * period.counts[static_cast<std::size_t>(stage)]; };
  for (std::size_t stage = 0; stage < totals.busy_s.size(); ++stage) {
    totals.busy_s[stage] += periods * period.busy_s[stage];
  }
  const StageCosts& costs = model.costs;
  totals.link_s += count(Stage::transfer) * costs.transfer_s;
  totals.disk_s += count(Stage::cpu_batch) * costs.cpu_batch_disk_s;
  if (!model.host_device) {
    const double groups = periods * static_cast<double>(period.updates) / plan.super_batch;
    totals.link_s +=
        count(Stage::device_batch) * std::min(costs.device_batch_link_s, costs.device_batch_s) +
        count(Stage::device_gather) * std::min(costs.device_gather_link_s, costs.device_gather_s);
    totals.link_s += plan.schedule == plan::Schedule::super_batch ? groups * costs.group_transfer_s : 0;
  }
  return totals;
}

/// Allowed error of a period, relative to the whole epoch: a small part of run_quickly's 0.1 %, as errors may
/// accumulate.
constexpr double period_tolerance = 3e-5;

/// The prediction of an epoch longer than `part` by `periods` periods.
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

/// Thrown by the machine to leave a policy early: policies are plain loops over batches, which nothing but an
/// exception can end before the last one.
struct Repeats {
  Period period;
  std::int64_t trained = 0;
};

/// Looks for a period after `first` trainings and whenever twice as many have ended; throws Repeats.
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

/// Extrapolates from an epoch that is shorter by an integral number of periods.
Prediction predict_by_period(const plan::Plan& plan, const MachineModel& model, std::int64_t batches,
                             const Repeats& found) {
  const std::int64_t updates = found.period.updates;
  const std::int64_t periods = (batches - found.trained + updates - 1) / updates;
  const ComputedEpoch part = compute_epoch(plan, model, batches - periods * updates, nullptr);
  return with_periods(part, found.period, periods, plan, model);
}

/// Runs the whole epoch, or stops as soon as its period is known.
std::variant<ComputedEpoch, Repeats> compute_until_period(const plan::Plan& plan, const MachineModel& model,
                                                          std::int64_t batches) {
  const auto watch = [&](SimulatedMachine& machine) {
    if (can_repeat(plan)) {
      watch_for_period(machine, min_batches_for_period(plan), batches);
    }
  };
  try {
    return compute_epoch(plan, model, batches, watch);
  } catch (const Repeats& found) {
    return found;
  }
}

}  // namespace

Prediction run_quickly(const plan::Plan& plan, const MachineModel& model, std::int64_t batches) {
  if (model.costs_of) {
    throw std::invalid_argument("run_quickly needs the same costs for every batch");
  }
  const auto computed = compute_until_period(plan, model, batches);
  Prediction prediction;
  if (const auto* found = std::get_if<Repeats>(&computed)) {
    prediction = predict_by_period(plan, model, batches, *found);
  } else {
    const auto& whole = std::get<ComputedEpoch>(computed);
    prediction = times_of(whole.log);
    fill_utilisation(prediction, whole.totals, model);
  }
  prediction.lower_bound_s = lower_bound_s(model, plan, batches);
  return prediction;
}

}  // namespace gnomon::sim
