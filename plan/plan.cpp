#include "plan/plan.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/names.h"
#include "plan/presets.h"
#include "plan/rules.h"

namespace gnomon::plan {
namespace {

std::string in_quotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

/// Default number of threads of a host device: all cores if nothing else runs on them.
int default_device_threads(const Plan& plan, const Cores& cores) {
  const int shared = plan.schedule == Schedule::sequential ? cores.to_share() : cores.to_share() / 2;
  return std::max(1, shared / std::max(1, plan.devices));
}

int default_workers(const Plan& plan, const Cores& cores) {
  if (plan.schedule == Schedule::sequential) {
    return 1;
  }
  return std::max(
      1, (cores.to_share() - (runs_on_cores(cores.device) ? plan.device_threads : 1)) / plan.worker_threads);
}

void check_limits(const Plan& plan, const Cores& cores, const std::string& where) {
  for (const auto& rule : rules()) {
    if (const auto why = rule.exceeds == nullptr ? "" : rule.exceeds(plan, cores); !why.empty()) {
      throw base::InputError(where + ": " + rule.field.path, why);
    }
  }
}

std::string text_of(const Rule& rule, const Need& need, const Plan& plan) {
  if (!need.text.empty()) {
    return need.text;
  }
  const auto position = static_cast<std::size_t>(&rule - rules().data());
  return rule.field.path + " " + in_quotes(value_text(rule.field, field_values(plan)[position]));
}

bool is_met(const Need& need, const Abilities& device) {
  return std::any_of(need.any_of.begin(), need.any_of.end(),
                     [&](bool Abilities::*ability) { return device.*ability; });
}

/// The kinds of devices that execute a plan, as in "cuda"; empty if there is none.
std::string kinds_for(const Plan& plan) {
  std::string kinds;
  for (const auto& [kind, name] : base::EnumNames<DeviceKind>::values) {
    if (why_not_executed(plan, abilities_of(kind)).empty()) {
      kinds += (kinds.empty() ? "" : " or ") + in_quotes(name);
    }
  }
  return kinds;
}

}  // namespace

bool trains_in_order(const Plan& plan) {
  // The number of samplers that act as trainers depends on timing.
  const bool switches = plan.schedule == Schedule::factored && plan.devices != 1 && plan.switch_roles;
  // So do further passes over a macro-batch.
  const bool repeats = plan.schedule == Schedule::macro_batch && plan.macro.passes > 1;
  return plan.schedule == Schedule::sequential || (plan.order == Order::index && !switches && !repeats);
}

int preparing_threads(const Plan& plan) {
  return plan.prepares_beside_training()
             ? std::max(1, static_cast<int>(std::lround(plan.prepare_share * plan.device_threads)))
             : plan.device_threads;
}

bool samples_macro_batches(const Plan& plan) {
  return plan.schedule == Schedule::macro_batch && plan.route == Route::device &&
         plan.embeddings.reuse != Reuse::halo;
}

std::vector<int> macro_fanouts(std::vector<int> fanouts, const Macro& macro) {
  for (int& fanout : fanouts) {
    fanout = fanout < 0 ? fanout : fanout * macro.fanout_factor;
  }
  return fanouts;
}

bool changes_training(const Plan& plan) {
  return plan.bias > 1 || plan.embeddings.reuse != Reuse::none || plan.schedule == Schedule::macro_batch;
}

void check(const Plan& plan, const std::string& where) {
  if (const auto broken = violations(plan); !broken.empty()) {
    throw base::InputError(where + ": " + broken.front().path, broken.front().message);
  }
}

std::string why_not_executed(const Plan& plan, const Abilities& device) {
  for (const auto& rule : rules()) {
    for (const auto& need : rule.needs) {
      if (need.applies(plan) && !is_met(need, device)) {
        return text_of(rule, need, plan);
      }
    }
  }
  return "";
}

std::string refusal_of(const Plan& plan, const Abilities& device) {
  const auto why = why_not_executed(plan, device);
  if (why.empty()) {
    return "";
  }
  const auto kinds = kinds_for(plan);
  return kinds.empty() ? "simulated only: the runtime does not execute " + why + " yet"
                       : "this device does not execute " + why + "; one of kind " + kinds + " does";
}

void check_executed(const Plan& plan, const Abilities& device, const std::string& where) {
  if (const auto why = refusal_of(plan, device); !why.empty()) {
    throw base::InputError(where, why);
  }
}

Plan resolve(Plan plan, const Cores& cores, const std::string& where) {
  check(plan, where);
  plan.devices = plan.devices == 0 ? cores.devices : plan.devices;
  check_limits(plan, cores, where);
  check(plan, where);  // again, as rules depend on the number of training devices
  if (plan.device_threads == 0) {
    plan.device_threads = runs_on_cores(cores.device) ? default_device_threads(plan, cores) : 1;
  }
  if (plan.workers == 0 && plan.uses_workers()) {
    plan.workers = default_workers(plan, cores);
  }
  return plan;
}

Plan read_plan(const std::filesystem::path& path) {
  auto plan = base::read_document<Plan>(path);
  check(plan, path.string());
  return plan;
}

Plan find_plan(const std::string& name) {
  std::vector<std::string> names;
  for (auto& preset : presets()) {
    if (preset.name == name) {
      return preset;
    }
    names.push_back(preset.name);
  }
  if (base::names_file(name)) {
    return read_plan(name);
  }
  throw base::InputError("plan", base::unknown_name(name, names, "a plan file"));
}

std::vector<Plan> runnable_presets(const Abilities& device) {
  auto plans = presets();
  std::erase_if(plans, [&](const Plan& plan) { return !why_not_executed(plan, device).empty(); });
  return plans;
}

std::vector<Plan> presets() {
  std::vector<Plan> plans;
  for (const auto& [file, text] : preset_files()) {
    const std::string where = "presets/" + std::string(file);
    plans.push_back(base::from_document<Plan>(base::parse_json(text, where), where));
    check(plans.back(), where);
  }
  std::sort(plans.begin(), plans.end(), [](const Plan& a, const Plan& b) { return a.name < b.name; });
  return plans;
}

}  // namespace gnomon::plan
