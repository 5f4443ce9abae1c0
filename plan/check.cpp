#include <algorithm>

#include "base/error.h"
#include "plan/plan.h"

namespace gnomon::plan {
namespace {

std::string in_quotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

void require(bool right, const std::string& where, const char* field, const std::string& what) {
  if (!right) {
    throw base::InputError(where + ": " + field, what);
  }
}

/// The routes by which a schedule can get its batches.
std::vector<Route> routes_of(Schedule schedule) {
  switch (schedule) {
    case Schedule::sequential:
    case Schedule::pipelined:
    case Schedule::macro_batch:
      return {Route::cpu, Route::device};
    case Schedule::factored:
    case Schedule::super_batch:
      return {Route::device};
    case Schedule::dual_buffer:
    case Schedule::claim_ahead:
    case Schedule::mixed:
      break;
  }
  return {Route::both};
}

void check_route(const Plan& plan, const std::string& where) {
  const auto allowed = routes_of(plan.schedule);
  std::string names;
  for (const Route route : allowed) {
    names += (names.empty() ? "" : " or ") + in_quotes(base::name_of(route));
  }
  require(std::find(allowed.begin(), allowed.end(), plan.route) != allowed.end(), where, "route",
          in_quotes(base::name_of(plan.route)) + " does not go with schedule " +
              in_quotes(base::name_of(plan.schedule)) + "; use " + names);
  require(plan.gather == Gather::sampler || plan.route != Route::both, where, "gather",
          "\"trainer\" does not go with route \"both\"; use \"sampler\"");
  require(plan.schedule != Schedule::factored || plan.gather == Gather::trainer, where, "gather",
          "\"sampler\" does not go with schedule \"factored\"; use \"trainer\"");
  require(plan.gather == Gather::sampler || plan.schedule == Schedule::factored ||
              (plan.route == Route::cpu && plan.schedule != Schedule::macro_batch),
          where, "gather", "\"trainer\" goes with schedule \"factored\" or a pipeline of route \"cpu\"");
}

void check_order(const Plan& plan, const std::string& where) {
  require(plan.schedule != Schedule::dual_buffer || plan.order == Order::as_ready, where, "order",
          "\"index\" does not go with schedule \"dual_buffer\"; use \"as_ready\"");
  require(plan.schedule != Schedule::claim_ahead || plan.order == Order::index, where, "order",
          "\"as_ready\" does not go with schedule \"claim_ahead\"; use \"index\"");
}

void check_workers(const Plan& plan, const std::string& where) {
  require(plan.uses_workers() || plan.workers == 0, where, "workers",
          "must be 0 when the route is \"device\"");
  require(plan.schedule != Schedule::sequential || plan.workers <= 1, where, "workers",
          "must be 0 or 1 when the schedule is \"sequential\"");
  require(plan.worker_threads == 1 || plan.uses_workers(), where, "worker_threads",
          "must be 1 when the plan has no CPU workers");
  require(plan.pinning == Pinning::none || plan.uses_workers(), where, "pinning",
          "\"cores\" pins CPU workers, and the plan has none; use \"none\"");
  require(
      plan.placement == Placement::first_touch || plan.topology == Home::host || plan.features == Home::host,
      where, "placement",
      "\"interleave\" spreads what lies in host memory, and nothing does; use \"first_touch\"");
}

void check_devices(const Plan& plan, const std::string& where) {
  require(plan.prepare_share == 0 || (plan.route == Route::device && plan.schedule == Schedule::pipelined),
          where, "prepare_share", "must be 0 unless schedule \"pipelined\" has route \"device\"");
  require(plan.prepare_share > 0 || plan.route != Route::device || plan.schedule != Schedule::pipelined,
          where, "prepare_share", "must be above 0 when schedule \"pipelined\" has route \"device\"");
  require(plan.samplers == 0 || plan.schedule == Schedule::factored, where, "samplers",
          "must be 0 unless the schedule is \"factored\"");
  require(
      plan.devices == 0 || plan.samplers == 0 || plan.samplers < plan.devices, where, "samplers",
      std::to_string(plan.samplers) + " of " + std::to_string(plan.devices) + " devices leave none to train");
}

void check_data(const Plan& plan, const std::string& where) {
  const bool by_parts = plan.schedule == Schedule::macro_batch;
  require(plan.route == Route::cpu || plan.topology != Home::disk, where, "topology",
          "\"disk\" needs route \"cpu\"");
  require(plan.route == Route::cpu || plan.features != Home::disk, where, "features",
          "\"disk\" needs route \"cpu\"");
  require(plan.route != Route::cpu || (plan.topology != Home::device && plan.features != Home::device), where,
          plan.topology == Home::device ? "topology" : "features", "\"device\" needs route \"device\"");
  require(!by_parts || (plan.features == Home::disk) == (plan.route == Route::cpu), where, "features",
          "must be \"disk\" with route \"cpu\" and \"host\" with route \"device\" when the schedule is "
          "\"macro_batch\"");
  require(!by_parts || plan.macro.resident <= plan.macro.partitions, where, "macro.resident",
          std::to_string(plan.macro.resident) +
              " is more than macro.partitions = " + std::to_string(plan.macro.partitions));
  require(!plan.fused || plan.features != Home::disk, where, "fused",
          "reads features in memory; use features \"host\" or \"device\"");
  require(plan.cache.place != Home::disk, where, "cache.place", "must be \"host\" or \"device\"");
  require(!plan.cache.is_used() || plan.cache.place == Home::device || plan.features == Home::disk, where,
          "cache.place", "\"host\" holds data of the disk; use features \"disk\" or place \"device\"");
  require(!plan.cache.sharded || plan.cache.place == Home::device, where, "cache.sharded",
          "goes with place \"device\"");
}

void check_exact(const Plan& plan, const std::string& where) {
  require(!plan.exact || !changes_training(plan), where, "exact",
          "must be false when bias is above 1, embeddings are reused or batches come from macro-batches");
  require(plan.schedule != Schedule::super_batch || plan.embeddings.reuse == Reuse::hot, where,
          "embeddings.reuse", "must be \"hot\" when the schedule is \"super_batch\"");
  require(plan.embeddings.reuse != Reuse::hot || plan.schedule == Schedule::super_batch, where,
          "embeddings.reuse", "\"hot\" needs schedule \"super_batch\"");
  require(plan.embeddings.reuse != Reuse::halo || plan.schedule == Schedule::macro_batch, where,
          "embeddings.reuse", "\"halo\" needs schedule \"macro_batch\"");
}

/// Whether all that a cache does without a GPU is to say which neighbours are drawn more often: the share of
/// all vertices that is its budget.
bool only_leans(const Plan& plan) {
  const Cache& cache = plan.cache;
  return plan.bias > 1 && cache.policy == CachePolicy::out_degree && cache.features && !cache.topology &&
         cache.place == Home::device && !cache.sharded && cache.budget < 1;
}

std::string named(const char* field, std::string_view value) {
  return std::string(field) + " " + in_quotes(value);
}

/// Whether the runtime has the schedule.
bool is_executed(Schedule schedule, bool host_device) {
  switch (schedule) {
    case Schedule::mixed:
      return !host_device;
    case Schedule::super_batch:
    case Schedule::macro_batch:
      return false;
    default:
      return true;
  }
}

/// What only a GPU does.
std::string why_not_on_host(const Plan& plan) {
  if (plan.prepares_beside_training()) {
    return "prepare_share above 0";
  }
  if (plan.topology != Home::host) {
    return named("topology", base::name_of(plan.topology));
  }
  if (plan.features != Home::host) {
    return named("features", base::name_of(plan.features));
  }
  if (plan.cache.is_used() && !only_leans(plan)) {
    return named("cache.policy", base::name_of(plan.cache.policy));
  }
  if (plan.bias > 1 && !plan.cache.is_used()) {
    return "bias above 1 without a cache";
  }
  return plan.unaligned_reads ? "unaligned_reads" : "";
}

/// What a GPU does not do yet.
std::string why_not_on_gpu(const Plan& plan) {
  if (plan.topology == Home::disk) {
    return named("topology", base::name_of(plan.topology));
  }
  if (plan.features == Home::disk) {
    return named("features", base::name_of(plan.features));
  }
  if (plan.cache.is_used() && plan.cache.policy == CachePolicy::recent) {
    return named("cache.policy", base::name_of(plan.cache.policy));
  }
  return plan.bias > 1 ? "bias above 1" : "";
}

}  // namespace

bool trains_in_order(const Plan& plan) {
  return plan.order == Order::index || plan.schedule == Schedule::sequential;
}

bool changes_training(const Plan& plan) {
  return plan.bias > 1 || plan.embeddings.reuse != Reuse::none || plan.schedule == Schedule::macro_batch;
}

void check(const Plan& plan, const std::string& where) {
  check_route(plan, where);
  check_order(plan, where);
  check_workers(plan, where);
  check_devices(plan, where);
  check_data(plan, where);
  check_exact(plan, where);
}

std::string why_simulated_only(const Plan& plan, bool host_device) {
  if (!is_executed(plan.schedule, host_device)) {
    return named("schedule", base::name_of(plan.schedule));
  }
  if (plan.devices > 1) {
    return "devices other than 1";
  }
  if (plan.embeddings.reuse != Reuse::none) {
    return named("embeddings.reuse", base::name_of(plan.embeddings.reuse));
  }
  if (const auto why = host_device ? why_not_on_host(plan) : why_not_on_gpu(plan); !why.empty()) {
    return why;
  }
  return plan.super_batch > 1 ? "super_batch above 1" : "";
}

}  // namespace gnomon::plan
