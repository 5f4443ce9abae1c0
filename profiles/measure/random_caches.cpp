#include "profiles/measure/random_caches.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>

#include "base/median.h"
#include "kernels/cpu/sample/topology.h"
#include "plan/plan.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"
#include "runtime/host_machine.h"
#include "runtime/placement.h"
#include "runtime/stages.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

/// A plan whose device prepares every mini-batch and caches about `bytes` of random data.
plan::Plan cached_plan(CachedKind kind, double bytes, const runtime::DeviceOptions& device) {
  plan::Plan plan;
  plan.name = "random cache";
  plan.route = plan::Route::device;
  plan.device_threads = 1;
  plan.workers = 1;
  plan.cache.policy = bytes > 0 ? plan::CachePolicy::random : plan::CachePolicy::none;
  plan.cache.features = kind == CachedKind::rows;
  plan.cache.topology = kind == CachedKind::lists;
  plan.cache.budget = std::min(1.0, bytes / static_cast<double>(device.max_bytes));
  return plan;
}

double bytes_of(const graph::Graph& graph, const plan::Job& job, CachedKind kind) {
  return kind == CachedKind::rows
             ? static_cast<double>(graph.features.bytes())
             : static_cast<double>(kernels::cpu::resident_bytes(graph, runtime::draws_of(graph, job)));
}

/// Prepares mini-batches one after another with one cache, which is filled before the first one.
CachedPreparation prepare_with(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan,
                               const runtime::DeviceOptions& device, const AccessOptions& options) {
  runtime::Stages stages(
      graph, job, plan, [](const nn::TensorBatch&, std::int64_t, int) {}, device);
  runtime::HostMachine machine(1, stages.work());
  std::vector<std::int64_t> order(static_cast<std::size_t>(stages.batches()));
  std::iota(order.begin(), order.end(), 0);
  stages.begin_epoch(0, order);
  const auto run = [&](std::int64_t position) {
    const std::array prepared{machine.start_on(0, Stage::device_batch, position, {})};
    const std::array trained{machine.start_on(0, Stage::train, position, prepared)};
    machine.wait_any(trained);
    const auto span = machine.span(prepared.front());
    return span.seconds();
  };
  constexpr std::int64_t warm_up = 2;
  for (std::int64_t position = 0; position < std::min(warm_up, stages.batches()); ++position) {
    run(position);
  }
  stages.take_cache_use();
  constexpr std::size_t min_batches = 3;
  std::vector<double> times_s;
  const Stopwatch watch;
  for (std::int64_t position = std::min(warm_up, stages.batches() - 1); position < stages.batches();
       ++position) {
    throw_if_stopped(options.stop);
    if (times_s.size() >= min_batches && watch.seconds() >= options.time_limit_s) {
      break;
    }
    times_s.push_back(run(position));
  }
  const auto use = stages.take_cache_use();
  const auto hits = plan.cache.features ? use.row_hit_share() : use.list_hit_share();
  return {hits.value_or(0), base::median(times_s)};
}

}  // namespace

std::vector<CachedPreparation> prepare_with_random_caches(const graph::Graph& graph, const plan::Job& job,
                                                          const runtime::DeviceOptions& device,
                                                          CachedKind kind, int steps,
                                                          const AccessOptions& options) {
  // Enough memory that what training needs of it hardly changes a cache's size.
  constexpr double roomy = 32;
  const double all_bytes = bytes_of(graph, job, kind);
  auto roomy_device = device;
  roomy_device.max_bytes =
      std::max<std::int64_t>(device.max_bytes, static_cast<std::int64_t>(roomy * all_bytes));
  AccessOptions each = options;
  each.time_limit_s /= steps + 1;
  std::vector<CachedPreparation> all;
  for (int step = 0; step <= steps; ++step) {
    base::report(options.progress, "preparing with random caches", step, steps + 1);
    const auto plan = cached_plan(kind, all_bytes * step / steps, roomy_device);
    plan::check_executed(plan, plan::abilities_of(device.kind), "device");
    all.push_back(prepare_with(graph, job, plan, roomy_device, each));
  }
  return all;
}

}  // namespace gnomon::profiles
