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

void check_route(const Plan& plan, const std::string& where) {
  const std::string schedule = in_quotes(base::name_of(plan.schedule));
  const std::string route = in_quotes(base::name_of(plan.route));
  switch (plan.schedule) {
    case Schedule::sequential:
      require(plan.route != Route::both, where, "route",
              route + " does not go with schedule " + schedule + "; use \"cpu\" or \"device\"");
      break;
    case Schedule::pipelined:
      require(plan.route == Route::cpu, where, "route",
              route + " does not go with schedule " + schedule + "; use \"cpu\"");
      break;
    case Schedule::dual_buffer:
    case Schedule::claim_ahead:
      require(plan.route == Route::both, where, "route",
              route + " does not go with schedule " + schedule + "; use \"both\"");
      break;
  }
}

/// Threads that a host device gets when the plan leaves it open: all of the cores when nothing runs beside
/// it.
int default_device_threads(const Plan& plan, const Cores& cores) {
  return plan.schedule == Schedule::sequential ? cores.count : std::max(1, cores.count / 2);
}

int default_workers(const Plan& plan, const Cores& cores) {
  if (plan.schedule == Schedule::sequential) {
    return 1;
  }
  return std::max(1, cores.count - (cores.host_device ? plan.device_threads : 1));
}

}  // namespace

void check(const Plan& plan, const std::string& where) {
  check_route(plan, where);
  require(plan.schedule != Schedule::dual_buffer || plan.order == Order::as_ready, where, "order",
          "\"index\" does not go with schedule \"dual_buffer\"; use \"as_ready\"");
  require(plan.schedule != Schedule::claim_ahead || plan.order == Order::index, where, "order",
          "\"as_ready\" does not go with schedule \"claim_ahead\"; use \"index\"");
  require(plan.uses_cpu_route() || plan.workers == 0, where, "workers",
          "must be 0 when the route is \"device\"");
  require(plan.schedule != Schedule::sequential || plan.workers <= 1, where, "workers",
          "must be 0 or 1 when the schedule is \"sequential\"");
}

Plan resolve(Plan plan, const Cores& cores, const std::string& where) {
  check(plan, where);
  const std::string limit = " is more than this machine's " + std::to_string(cores.count) + " cores";
  require(plan.workers <= cores.count, where, "workers", std::to_string(plan.workers) + limit);
  require(plan.device_threads <= cores.count, where, "device_threads",
          std::to_string(plan.device_threads) + limit);
  if (plan.device_threads == 0) {
    plan.device_threads = cores.host_device ? default_device_threads(plan, cores) : 1;
  }
  if (plan.workers == 0 && plan.uses_cpu_route()) {
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

std::vector<Plan> presets() {
  std::vector<Plan> plans;
  for (const auto& [file, text] : preset_files()) {
    const std::string where = "presets/" + std::string(file);
    plans.push_back(base::from_document<Plan>(base::parse_json(text, where), where));
    check(plans.back(), where);
  }
  return plans;
}

}  // namespace gnomon::plan
