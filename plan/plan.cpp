#include "plan/plan.h"

#include <algorithm>

#include "base/error.h"
#include "plan/presets.h"

namespace gnomon::plan {
namespace {

void require(bool right, const std::string& where, const char* field, const std::string& what) {
  if (!right) {
    throw base::InputError(where + ": " + field, what);
  }
}

std::string in_quotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

/// Threads that a host device gets when the plan leaves it open: all of the cores when nothing runs beside
/// it.
int default_device_threads(const Plan& plan, const Cores& cores) {
  return plan.schedule == Schedule::sequential ? cores.count : std::max(1, cores.count / 2);
}

int default_workers(const Plan& plan, const Cores& cores) {
  if (plan.schedule == Schedule::sequential) {
    return 1;
  }
  return std::max(1, (cores.count - (cores.host_device ? plan.device_threads : 1)) / plan.worker_threads);
}

void resolve_devices(Plan& plan, const Cores& cores, const std::string& where) {
  plan.devices = plan.devices == 0 ? cores.devices : plan.devices;
  require(plan.devices <= cores.devices, where, "devices",
          std::to_string(plan.devices) + " is more than this machine's " + std::to_string(cores.devices));
  check(plan, where);  // of how many devices samplers leave some
}

}  // namespace

Plan resolve(Plan plan, const Cores& cores, const std::string& where) {
  check(plan, where);
  const std::string limit = " is more than this machine's " + std::to_string(cores.count) + " cores";
  require(plan.workers <= cores.count, where, "workers", std::to_string(plan.workers) + limit);
  require(std::max(1, plan.workers) * plan.worker_threads <= cores.count, where, "worker_threads",
          std::to_string(plan.worker_threads) + " for each of " + std::to_string(std::max(1, plan.workers)) +
              " workers is more than this machine's " + std::to_string(cores.count) + " cores");
  require(plan.device_threads <= cores.count, where, "device_threads",
          std::to_string(plan.device_threads) + limit);
  resolve_devices(plan, cores, where);
  if (plan.device_threads == 0) {
    plan.device_threads = cores.host_device ? default_device_threads(plan, cores) : 1;
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
  if (name.ends_with(".json")) {
    return read_plan(name);
  }
  std::string known;
  for (auto& preset : presets()) {
    if (preset.name == name) {
      return preset;
    }
    known += (known.empty() ? "" : ", ") + preset.name;
  }
  throw base::InputError("plan",
                         in_quotes(name) + " is not known; use a file ending in .json or one of " + known);
}

std::vector<Plan> runnable_presets(bool host_device) {
  auto plans = presets();
  std::erase_if(plans,
                [host_device](const Plan& plan) { return !why_simulated_only(plan, host_device).empty(); });
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
