#include "plan/rules.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "plan/disk_plans.h"
#include "plan/values.h"

namespace gnomon::plan {
namespace {

using Table = std::vector<Rule>;
using A = Abilities;

std::string in_quotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

std::function<std::string(const Plan&)> says(const char* text) {
  return [text](const Plan&) { return std::string(text); };
}

Field field(std::string_view path) {
  static const auto fields = plan_fields();
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.path == path; });
  if (found == fields.end()) {
    throw std::logic_error("no field of a plan is called " + std::string(path));
  }
  return *found;
}

bool always(const Plan&, const Cores&) { return true; }
bool never(const Plan&, const Cores&) { return false; }

bool has_own_memory(const Cores& cores) { return abilities_of(cores.device).own_memory; }
bool reads_disks(const Cores& cores) { return abilities_of(cores.device).data_on_disk; }

bool is_sequential(const Plan& plan) { return plan.schedule == Schedule::sequential; }
bool is_factored(const Plan& plan) { return plan.schedule == Schedule::factored; }
bool is_by_parts(const Plan& plan) { return plan.schedule == Schedule::macro_batch; }
bool is_pipelined_on_device(const Plan& plan) {
  return plan.schedule == Schedule::pipelined && plan.route == Route::device;
}
bool has_policy(const Plan& plan) { return plan.cache.policy != CachePolicy::none; }

bool with_workers(const Plan& plan, const Cores&) { return plan.uses_workers(); }
/// Workers that run beside the device, with a buffer between them.
bool with_workers_beside(const Plan& plan, const Cores&) {
  return plan.uses_workers() && !is_sequential(plan);
}
bool with_overlap(const Plan& plan, const Cores&) { return !is_sequential(plan); }
bool with_factored(const Plan& plan, const Cores&) { return is_factored(plan); }
bool with_parts(const Plan& plan, const Cores&) { return is_by_parts(plan); }
bool with_policy(const Plan& plan, const Cores&) { return has_policy(plan); }
bool with_own_memory(const Plan&, const Cores& cores) { return has_own_memory(cores); }

// schedule, route, gather, order, exact

/// The routes by which a schedule gets its mini-batches.
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

bool has_wrong_route(const Plan& plan) {
  const auto allowed = routes_of(plan.schedule);
  return std::find(allowed.begin(), allowed.end(), plan.route) == allowed.end();
}

std::string right_routes(const Plan& plan) {
  std::string names;
  for (const Route route : routes_of(plan.schedule)) {
    names += (names.empty() ? "" : " or ") + in_quotes(base::name_of(route));
  }
  return in_quotes(base::name_of(plan.route)) + " cannot be combined with schedule " +
         in_quotes(base::name_of(plan.schedule)) + "; use " + names;
}

/// With one device, roles only take turns, as in schedule sequential but with a queue.
bool is_factored_on_one(std::string_view schedule, const Cores& cores) {
  return schedule == base::name_of(Schedule::factored) && cores.devices == 1;
}

Table schedule_rules() {
  return {
      {.field = field("schedule"),
       .matters = always,
       .needs = {{[](const Plan& p) { return p.schedule == Schedule::mixed; }, {&A::mixed_routes}},
                 {[](const Plan& p) { return p.schedule == Schedule::super_batch; }, {&A::super_batches}},
                 {[](const Plan& p) { return is_factored(p) && p.devices > 1; },
                  {&A::divided_roles},
                  "schedule \"factored\" on several devices"},
                 {is_by_parts, {&A::macro_batches}},
                 {[](const Plan& p) { return is_by_parts(p) && p.topology != p.features; },
                  {},
                  "schedule \"macro_batch\" with topology and features in different places"},
                 {[](const Plan& p) { return is_by_parts(p) && p.devices > 1; },
                  {},
                  "schedule \"macro_batch\" on several devices"},
                 {[](const Plan& p) { return is_by_parts(p) && p.cache.is_used(); },
                  {},
                  "schedule \"macro_batch\" with a cache"},
                 {[](const Plan& p) { return is_by_parts(p) && p.bias > 1; },
                  {},
                  "schedule \"macro_batch\" with bias above 1"}},
       // Without embeddings to refresh, super-batches only change when a mini-batch is prepared.
       .search = {.decides = true,
                  .leaves_out = is_factored_on_one,
                  .repeats =
                      [](const Plan& p) {
                        return p.schedule == Schedule::super_batch && p.embeddings.reuse == Reuse::none;
                      }}},
      {.field = field("route"),
       .matters = always,
       .excludes = {{has_wrong_route, right_routes}},
       .search = {.decides = true}},
      {.field = field("gather"),
       .matters = [](const Plan& p, const Cores&) { return p.route != Route::both; },
       .excludes = {{[](const Plan& p) { return p.gather == Gather::trainer && p.route == Route::both; },
                     says("\"trainer\" cannot be combined with route \"both\"; use \"sampler\"")},
                    {[](const Plan& p) { return p.gather == Gather::sampler && is_factored(p); },
                     says("\"sampler\" cannot be combined with schedule \"factored\"; use \"trainer\"")},
                    {[](const Plan& p) {
                       return p.gather == Gather::trainer && !is_factored(p) &&
                              (p.route == Route::device || is_by_parts(p));
                     },
                     says("\"trainer\" needs schedule \"factored\", or route \"cpu\" and a schedule other "
                          "than \"macro_batch\"; use \"sampler\"")}},
       .search = {.decides = true}},
      {.field = field("order"),
       .matters = with_overlap,
       .excludes =
           {{[](const Plan& p) { return p.schedule == Schedule::dual_buffer && p.order == Order::index; },
             says("\"index\" cannot be combined with schedule \"dual_buffer\"; use \"as_ready\"")},
            {[](const Plan& p) { return p.schedule == Schedule::claim_ahead && p.order == Order::as_ready; },
             says("\"as_ready\" cannot be combined with schedule \"claim_ahead\"; use \"index\"")}},
       .search = {.decides = true}},
      {.field = field("exact"),
       .matters = never,
       .excludes = {{[](const Plan& p) { return p.exact && changes_training(p); },
                     says("must be false when bias is above 1, embeddings are reused or batches come from "
                          "macro-batches")}},
       .search = {.is_fixed = true}},
  };
}

// workers and buffers

std::string too_many(int asked, const Cores& cores) {
  return asked <= cores.count ? ""
                              : std::to_string(asked) + " is more than this machine's " +
                                    std::to_string(cores.count) + " cores";
}

std::string too_many_threads_each(const Plan& plan, const Cores& cores) {
  const int workers = std::max(1, plan.workers);
  return workers * plan.worker_threads <= cores.count
             ? ""
             : std::to_string(plan.worker_threads) + " for each of " + std::to_string(workers) +
                   " workers is more than this machine's " + std::to_string(cores.count) + " cores";
}

std::vector<double> numbers(const std::vector<int>& values) { return {values.begin(), values.end()}; }

Table worker_rules() {
  return {
      {.field = field("workers"),
       .matters = with_workers_beside,
       .excludes = {{[](const Plan& p) { return p.workers != 0 && !p.uses_workers(); },
                     says("must be 0 when the route is \"device\"")},
                    {[](const Plan& p) { return p.workers > 1 && is_sequential(p); },
                     says("must be 0 or 1 when the schedule is \"sequential\"")}},
       .exceeds = [](const Plan& p, const Cores& cores) { return too_many(p.workers, cores); },
       .search = {.values = [](const Cores& cores) { return numbers(worker_choices(cores.count)); }}},
      {.field = field("worker_threads"),
       .matters = with_workers,
       .excludes = {{[](const Plan& p) { return p.worker_threads != 1 && !p.uses_workers(); },
                     says("must be 1 when the plan has no CPU workers")}},
       .exceeds = too_many_threads_each,
       // More are only useful where a profile shows it.
       .search = {.values = [](const Cores&) { return std::vector<double>{1}; }}},
      {.field = field("cpu_buffer"),
       .matters = [](const Plan& p,
                     const Cores& cores) { return with_workers_beside(p, cores) || is_factored(p); },
       .search = {.where = with_workers_beside}},
      {.field = field("device_buffer"), .matters = with_overlap},
      {.field = field("look_ahead"),
       .matters = [](const Plan& p, const Cores&) { return p.schedule == Schedule::claim_ahead; }},
      // A device without memory of its own uses mini-batches in place: nothing is copied.
      {.field = field("copy_during_device_batch"),
       .matters =
           [](const Plan& p, const Cores&) {
             return p.schedule == Schedule::dual_buffer || p.schedule == Schedule::claim_ahead ||
                    p.schedule == Schedule::mixed;
           },
       .search = {.where =
                      [](const Plan& p, const Cores& cores) {
                        return has_own_memory(cores) && p.schedule != Schedule::mixed;
                      }}},
      {.field = field("handover_copies"), .matters = with_workers, .search = {.is_fixed = true}},
      {.field = field("device_threads"),
       .matters = [](const Plan&, const Cores& cores) { return runs_on_cores(cores.device); },
       .exceeds = [](const Plan& p, const Cores& cores) { return too_many(p.device_threads, cores); },
       .search = {.values = [](const Cores& cores) { return numbers(thread_choices(cores)); }}},
      {.field = field("pinning"),
       .matters = with_workers,
       .excludes = {{[](const Plan& p) { return p.pinning == Pinning::cores && !p.uses_workers(); },
                     says("\"cores\" pins CPU workers, and the plan has none; use \"none\"")}},
       .search = {.is_fixed = true}},
      {.field = field("placement"),
       .matters = [](const Plan& p,
                     const Cores&) { return p.topology == Home::host || p.features == Home::host; },
       .excludes = {{[](const Plan& p) {
                       return p.placement == Placement::interleave && p.topology != Home::host &&
                              p.features != Home::host;
                     },
                     says("\"interleave\" spreads what lies in host memory, and nothing does; use "
                          "\"first_touch\"")}},
       .search = {.is_fixed = true}},
  };
}

// devices and their roles

std::vector<double> device_counts(const Cores& cores) { return log_steps(1, cores.devices); }

Table device_rules() {
  return {
      {.field = field("devices"),
       .matters = [](const Plan&, const Cores& cores) { return cores.devices > 1; },
       .needs = {{[](const Plan& p) { return p.devices > 1; },
                  {&A::several_devices},
                  "devices other than 1"}},
       .exceeds =
           [](const Plan& p, const Cores& cores) {
             return p.devices <= cores.devices ? ""
                                               : std::to_string(p.devices) + " is more than this machine's " +
                                                     std::to_string(cores.devices);
           },
       .search = {.values = device_counts}},
      {.field = field("device_memory_bytes"), .matters = with_own_memory, .search = {.is_fixed = true}},
      {.field = field("samplers"),
       .matters = with_factored,
       .excludes = {{[](const Plan& p) { return p.samplers != 0 && !is_factored(p); },
                     says("must be 0 unless the schedule is \"factored\"")},
                    {[](const Plan& p) {
                       return p.devices != 0 && p.samplers != 0 && p.samplers >= p.devices;
                     },
                     [](const Plan& p) {
                       return std::to_string(p.samplers) + " of " + std::to_string(p.devices) +
                              " devices leave none to train";
                     }}},
       .search = {.values = device_counts}},
      {.field = field("switch_roles"), .matters = with_factored},
      {.field = field("cpu_share"),
       .matters = [](const Plan& p, const Cores&) { return p.schedule == Schedule::mixed; }},
      {.field = field("prepare_share"),
       .matters = [](const Plan& p, const Cores&) { return is_pipelined_on_device(p); },
       .excludes = {{[](const Plan& p) { return p.prepare_share != 0 && !is_pipelined_on_device(p); },
                     says("must be 0 unless schedule \"pipelined\" has route \"device\"")},
                    {[](const Plan& p) { return p.prepare_share <= 0 && is_pipelined_on_device(p); },
                     says("must be above 0 when schedule \"pipelined\" has route \"device\"")}},
       .needs = {{[](const Plan& p) { return p.prepares_beside_training(); },
                  {&A::preparing_beside_training},
                  "prepare_share above 0"}},
       .search = {.above_zero = true}},
  };
}

// data placement

/// Whether data has another place than host memory: the device's own memory, or the disk for CPU workers.
bool can_move(const Plan& plan, const Cores& cores) {
  return has_own_memory(cores) || (reads_disks(cores) && plan.route == Route::cpu);
}

Table home_rules() {
  return {
      {.field = field("topology"),
       .matters = always,
       .excludes = {{[](const Plan& p) { return p.topology == Home::disk && p.route != Route::cpu; },
                     says("\"disk\" needs route \"cpu\"")},
                    {[](const Plan& p) { return p.topology == Home::device && p.route == Route::cpu; },
                     says("\"device\" needs route \"device\" or \"both\"")}},
       .needs = {{[](const Plan& p) { return p.topology == Home::disk; }, {&A::data_on_disk}},
                 {[](const Plan& p) { return p.topology == Home::device; }, {&A::own_memory}}},
       .search = {.where = can_move, .decides = true}},
      {.field = field("features"),
       .matters = always,
       .excludes = {{[](const Plan& p) { return p.features == Home::disk && p.route != Route::cpu; },
                     says("\"disk\" needs route \"cpu\"")},
                    {[](const Plan& p) { return p.features == Home::device && p.route == Route::cpu; },
                     says("\"device\" needs route \"device\" or \"both\"")},
                    {[](const Plan& p) {
                       return is_by_parts(p) &&
                              p.features != (p.route == Route::cpu ? Home::disk : Home::host);
                     },
                     says("must be \"disk\" with route \"cpu\" and \"host\" with route \"device\" when the "
                          "schedule is \"macro_batch\"")}},
       .needs = {{[](const Plan& p) { return p.features == Home::disk; }, {&A::data_on_disk}},
                 {[](const Plan& p) { return p.features == Home::disk && p.gather == Gather::trainer; },
                  {},
                  "features \"disk\" with gather \"trainer\""},
                 {[](const Plan& p) { return p.features == Home::device; }, {&A::own_memory}}},
       .search = {.where = [](const Plan& p,
                              const Cores& cores) { return can_move(p, cores) || is_by_parts(p); },
                  .decides = true}},
  };
}

// caches and biased draws

/// Whether the cache holds, or (without copying) only defines, the vertices that draws prefer: those of the
/// highest out-degree, with the budget as their share of all vertices.
bool only_biases(const Plan& plan) {
  const Cache& cache = plan.cache;
  return plan.bias > 1 && cache.policy == CachePolicy::out_degree && cache.features && !cache.topology &&
         cache.place == Home::device && !cache.sharded && cache.budget < 1;
}

bool has_device_cache(const Plan& plan) { return plan.cache.is_used() && plan.cache.place == Home::device; }

bool has_static_cache(const Plan& plan) {
  return has_device_cache(plan) && plan.cache.policy != CachePolicy::recent;
}

/// A plan of route cpu may have a cache on the device, too: its draws may prefer what the cache holds.
bool can_cache(const Plan& plan, const Cores& cores) {
  return plan.features == Home::disk || (has_own_memory(cores) && plan.features != Home::device);
}

/// `random` exists as a baseline only, and so does `optimal` in a device's memory; a host cache of the disk
/// samples ahead for it.
bool is_baseline(std::string_view policy, const Cores& cores) {
  return policy == base::name_of(CachePolicy::random) ||
         (policy == base::name_of(CachePolicy::optimal) && !reads_disks(cores));
}

/// The disk holds no cache, and neither does a device without memory of its own.
bool is_nowhere(std::string_view place, const Cores& cores) {
  return place == base::name_of(Home::disk) ||
         (place == base::name_of(Home::device) && !has_own_memory(cores));
}

/// The device caches lists of the host's memory, and the host those of the disk.
bool can_cache_lists(const Plan& plan, const Cores& cores) {
  return (plan.uses_device_route() && plan.topology == Home::host) ||
         (reads_disks(cores) && plan.topology == Home::disk && plan.features == Home::disk);
}

Table cache_rules() {
  return {
      {.field = field("cache.policy"),
       .matters = always,
       .needs = {{[](const Plan& p) { return has_static_cache(p) && !only_biases(p); }, {&A::static_caches}},
                 {only_biases, {&A::static_caches, &A::bias_without_cache}},
                 {[](const Plan& p) { return has_device_cache(p) && p.cache.policy == CachePolicy::recent; },
                  {&A::dynamic_caches}},
                 {has_host_cache, {&A::data_on_disk}},
                 {[](const Plan& p) {
                    return has_host_cache(p) && p.cache.policy == CachePolicy::value_weight;
                  },
                  {},
                  "cache.policy \"value_weight\" with cache.place \"host\""},
                 // Adjacency lists are cached by file blocks, whose use is unknown before the epoch.
                 {[](const Plan& p) {
                    return has_host_cache(p) && p.cache.topology && p.topology == Home::disk &&
                           p.cache.policy != CachePolicy::recent;
                  },
                  {},
                  "cache.topology with topology \"disk\" unless cache.policy is \"recent\""}},
       .search = {.where = can_cache, .leaves_out = is_baseline}},
      {.field = field("cache.features"),
       .matters = with_policy,
       // A cache that holds neither features nor topology is none.
       .search = {.repeats = [](const Plan& p) { return has_policy(p) && !p.cache.is_used(); }}},
      {.field = field("cache.topology"), .matters = with_policy, .search = {.where = can_cache_lists}},
      {.field = field("cache.place"),
       .matters = [](const Plan& p, const Cores&) { return has_policy(p) && p.features == Home::disk; },
       .excludes = {{[](const Plan& p) { return p.cache.place == Home::disk; },
                     says("must be \"host\" or \"device\"")},
                    {[](const Plan& p) {
                       return p.cache.is_used() && p.cache.place != Home::device && p.features != Home::disk;
                     },
                     says("\"host\" holds data of the disk; use features \"disk\" or place \"device\"")}},
       .search = {.leaves_out = is_nowhere}},
      {.field = field("cache.budget"), .matters = with_policy},
      {.field = field("cache.sharded"),
       .matters = [](const Plan& p, const Cores& cores) { return has_policy(p) && cores.devices > 1; },
       .excludes = {{[](const Plan& p) { return p.cache.sharded && p.cache.place != Home::device; },
                     says("must be false unless cache.place is \"device\"")}},
       .needs = {{[](const Plan& p) { return p.cache.is_used() && p.cache.sharded && p.devices > 1; },
                  {&A::peer_reads},
                  "cache.sharded on several devices"}}},
      {.field = field("unaligned_reads"),
       .matters = with_own_memory,
       .needs = {{[](const Plan& p) { return p.unaligned_reads; }, {&A::unaligned_reads}, "unaligned_reads"}},
       .search = {.is_fixed = true}},
      {.field = field("bias"),
       .matters = with_policy,
       .needs = {{[](const Plan& p) { return p.bias > 1; },
                  {&A::bias_to_cache, &A::bias_without_cache},
                  "bias above 1"},
                 // The cache's content must be known before the first draw and be the same on every device.
                 {[](const Plan& p) { return p.bias > 1 && p.cache.is_used() && !only_biases(p); },
                  {},
                  "bias above 1 unless the cache has policy \"out_degree\", place \"device\", features only "
                  "and a budget below 1"},
                 // The bias is applied by edge weights, whose alias tables are in memory.
                 {[](const Plan& p) { return p.bias > 1 && reads_disk(p); },
                  {},
                  "bias above 1 with topology or features \"disk\""},
                 // Without a cache there are no neighbours to prefer.
                 {[](const Plan& p) { return p.bias > 1 && !p.cache.is_used(); },
                  {},
                  "bias above 1 without a cache"}}},
  };
}

// reused embeddings, super-batches, macro-batches, the fused layer and recorded steps

Table reuse_rules() {
  return {
      {.field = field("embeddings.reuse"),
       .matters = always,
       .excludes = {{[](const Plan& p) {
                       return p.schedule == Schedule::super_batch && p.embeddings.reuse != Reuse::hot &&
                              p.embeddings.reuse != Reuse::none;
                     },
                     says("must be \"hot\" or \"none\" when the schedule is \"super_batch\"")},
                    {[](const Plan& p) {
                       return p.embeddings.reuse == Reuse::hot && p.schedule != Schedule::super_batch;
                     },
                     says("\"hot\" needs schedule \"super_batch\"")},
                    {[](const Plan& p) { return p.embeddings.reuse == Reuse::halo && !is_by_parts(p); },
                     says("\"halo\" needs schedule \"macro_batch\"")}},
       .needs = {{[](const Plan& p) {
                    return p.embeddings.reuse != Reuse::none && p.embeddings.reuse != Reuse::hot;
                  },
                  {&A::reused_embeddings}},
                 // The host must know which embeddings to pull and push.
                 {[](const Plan& p) { return p.embeddings.reuse == Reuse::all && p.route != Route::cpu; },
                  {},
                  "embeddings.reuse \"all\" unless the route is \"cpu\""},
                 {[](const Plan& p) { return p.embeddings.reuse == Reuse::all && p.devices > 1; },
                  {},
                  "embeddings.reuse \"all\" on several devices"},
                 {[](const Plan& p) { return p.embeddings.reuse == Reuse::all && is_by_parts(p); },
                  {},
                  "embeddings.reuse \"all\" with macro-batches"},
                 // The halo's features are read, too, and its embeddings lie in memory.
                 {[](const Plan& p) { return p.embeddings.reuse == Reuse::halo && p.features == Home::disk; },
                  {},
                  "embeddings.reuse \"halo\" with features \"disk\""},
                 {[](const Plan& p) { return p.embeddings.reuse == Reuse::hot; }, {&A::super_batches}},
                 {[](const Plan& p) { return p.embeddings.reuse == Reuse::hot && p.devices > 1; },
                  {},
                  "embeddings.reuse \"hot\" on several devices"},
                 {[](const Plan& p) { return p.embeddings.reuse == Reuse::hot && p.fused; },
                  {},
                  "embeddings.reuse \"hot\" with fused"}},
       .search = {.decides = true}},
      {.field = field("embeddings.hot_ratio"),
       .matters = [](const Plan& p, const Cores&) { return p.embeddings.reuse == Reuse::hot; }},
      {.field = field("super_batch"),
       // Policy "optimal" samples that many mini-batches ahead.
       .matters = [](const Plan& p,
                     const Cores&) { return p.schedule == Schedule::super_batch || looks_ahead(p); },
       .needs = {{[](const Plan& p) { return p.super_batch > 1; },
                  {&A::super_batches},
                  "super_batch above 1"}}},
  };
}

Table macro_rules() {
  const Search in_parts{.counts_batches = false};
  return {
      {.field = field("macro.partitions"), .matters = with_parts, .search = in_parts},
      {.field = field("macro.resident"),
       .matters = with_parts,
       .excludes = {{[](const Plan& p) { return is_by_parts(p) && p.macro.resident > p.macro.partitions; },
                     [](const Plan& p) {
                       return std::to_string(p.macro.resident) +
                              " is more than macro.partitions = " + std::to_string(p.macro.partitions);
                     }}},
       .search = in_parts},
      {.field = field("macro.passes"), .matters = with_parts, .search = in_parts},
      {.field = field("macro.hub_ratio"), .matters = with_parts},
      {.field = field("macro.partitioner"), .matters = with_parts},
      {.field = field("macro.sampled_ahead"), .matters = with_parts},
      {.field = field("macro.fanout_factor"),
       .matters = [](const Plan& p, const Cores&) { return samples_macro_batches(p); },
       .excludes = {{[](const Plan& p) { return p.macro.fanout_factor != 1 && !samples_macro_batches(p); },
                     says("must be 1 unless macro-batches are sampled: schedule \"macro_batch\" with route "
                          "\"device\" and embeddings.reuse other than \"halo\"")}},
       .search = {.values =
                      [](const Cores&) {
                        return std::vector<double>{1, 2, 4, 8};
                      }}},
      // Nothing is gathered; the route that would have gathered only samples.
      {.field = field("fused"),
       .matters = always,
       .excludes = {{[](const Plan& p) { return p.fused && p.features == Home::disk; },
                     says("reads features in memory; use features \"host\" or \"device\"")}},
       // It leaves the trainer nothing to gather: with gather "trainer" a fused plan is one that samples
       // only.
       .search = {.where =
                      [](const Plan& p, const Cores&) {
                        return p.features != Home::disk && (p.gather == Gather::sampler || is_factored(p));
                      }}},
      // A search would need to know what a GPU computes apart from what its host launches.
      {.field = field("graphs"),
       .matters = [](const Plan&, const Cores& cores) { return abilities_of(cores.device).recorded_steps; },
       .needs = {{[](const Plan& p) { return p.graphs; }, {&A::recorded_steps}, "graphs"},
                 // Recorded launches read a mini-batch at fixed places, and make whole steps.
                 {[](const Plan& p) { return p.graphs && p.fused; }, {}, "graphs with fused"},
                 {[](const Plan& p) { return p.graphs && p.embeddings.reuse != Reuse::none; },
                  {},
                  "graphs with embeddings.reuse"},
                 {[](const Plan& p) { return p.graphs && p.devices > 1; }, {}, "graphs on several devices"}},
       .search = {.is_fixed = true}},
  };
}

Table all_rules() {
  Table all;
  for (auto make :
       {schedule_rules, worker_rules, device_rules, home_rules, cache_rules, reuse_rules, macro_rules}) {
    auto rows = make();
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

const std::vector<Rule>& rules() {
  static const Table table = all_rules();
  return table;
}

const Rule& rule_of(std::string_view path) {
  const auto& all = rules();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Rule& r) { return r.field.path == path; });
  if (found == all.end()) {
    throw std::out_of_range("no rule of a plan is called " + std::string(path));
  }
  return *found;
}

bool is_searched(const Rule& rule, const Plan& plan, const Cores& cores) {
  return !rule.search.is_fixed && rule.matters(plan, cores) &&
         (rule.search.where == nullptr || rule.search.where(plan, cores));
}

std::vector<Violation> violations(const Plan& plan) {
  std::vector<Violation> broken;
  for (const auto& rule : rules()) {
    for (const auto& exclusion : rule.excludes) {
      if (exclusion.applies(plan)) {
        broken.push_back({rule.field.path, exclusion.message(plan)});
      }
    }
  }
  return broken;
}

}  // namespace gnomon::plan
