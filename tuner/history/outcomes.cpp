#include "tuner/history/outcomes.h"

#include <algorithm>

#include "base/error.h"
#include "tuner/surrogate/learned.h"

namespace gnomon::tuner {
namespace {

struct TimedStage {
  const char* name;
  profiles::StageTime profiles::WorkloadProfile::*time;
};

constexpr std::array<TimedStage, 4> timed_stages{{{"cpu_batch", &profiles::WorkloadProfile::cpu_batch},
                                                  {"transfer", &profiles::WorkloadProfile::transfer},
                                                  {"device_batch", &profiles::WorkloadProfile::device_batch},
                                                  {"train", &profiles::WorkloadProfile::train}}};

}  // namespace

std::vector<std::pair<std::string, double>> workload_inputs(const profiles::Profile& profile) {
  std::vector<std::pair<std::string, double>> inputs;
  const auto names = learned_input_names();
  const auto values = learned_inputs(profile, {});
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].starts_with("plan.")) {
      inputs.emplace_back(names[i], values[i]);
    }
  }
  for (const auto& [name, time] : timed_stages) {
    const auto& stage = profile.workload.*time;
    inputs.emplace_back(std::string(name) + ".mean_s", stage.mean_s);
    inputs.emplace_back(std::string(name) + ".interval",
                        stage.mean_s > 0 ? stage.interval_s / stage.mean_s : 0);
  }
  return inputs;
}

Outcomes outcomes_of(const std::vector<RealRun>& runs, const profiles::Profile& profile,
                     const profiles::MachineKey& machine, sim::Simulator& simulator) {
  auto as_measured = profile;
  as_measured.corrections.reset();
  as_measured.learned.reset();
  Outcomes outcomes{
      .machine = machine, .device = profile.machine.device.kind, .graph = graph_of(profile.workload)};
  for (auto& [name, value] : workload_inputs(as_measured)) {
    outcomes.inputs.push_back(std::move(name));
    outcomes.values.push_back(value);
  }
  std::vector<std::vector<RealRun>> by_plan;
  for (const auto& run : runs) {
    const auto same = std::find_if(by_plan.begin(), by_plan.end(), [&](const std::vector<RealRun>& known) {
      return known.front().plan == run.plan;
    });
    (same == by_plan.end() ? by_plan.emplace_back() : *same).push_back(run);
  }
  for (const auto& of_plan : by_plan) {
    const auto& plan = of_plan.front().plan;
    const auto stages = corrections_by(of_plan, as_measured, simulator);
    if (std::any_of(profiles::all_corrections.begin(), profiles::all_corrections.end(),
                    [&](const auto stage) { return (stages.*stage).has_value(); })) {
      outcomes.plans.push_back({plan.name, plan::regime_of(plan, profiles::cores_of(profile)), stages});
    }
  }
  return outcomes;
}

void check(const Outcomes& outcomes, const std::string& where) {
  if (outcomes.inputs.size() != outcomes.values.size()) {
    throw base::InputError(where + ": values", "must have a number for each of \"inputs\"");
  }
}

}  // namespace gnomon::tuner
