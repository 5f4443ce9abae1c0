#include "profiles/measure/biased_sampling.h"

#include "base/usable.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "kernels/cpu/sample/topology.h"
#include "plan/plan.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/ratio.h"
#include "profiles/measure/statistics.h"
#include "runtime/training/biased_graph.h"

namespace gnomon::profiles {
namespace {

using kernels::cpu::Draws;

/// Maximum number of edges: building the alias tables of more would exceed their share of the profiling time.
constexpr std::int64_t most_edges = std::int64_t{1} << 26;

bool is_affordable(const graph::Graph& graph) {
  constexpr double share_of_memory = 0.25;
  const auto bytes_for = [&](Draws draws) {
    return static_cast<double>(kernels::cpu::resident_bytes(graph.num_vertices(), graph.num_edges(), draws));
  };
  return graph.num_edges() <= most_edges &&
         bytes_for(Draws::uniform) + bytes_for(Draws::by_weight) <=
             share_of_memory * static_cast<double>(base::available_memory_bytes());
}

}  // namespace

std::optional<double> measure_biased_sampling(const graph::Graph& graph, const plan::Job& job,
                                              const AccessOptions& options) {
  if (job.weighted || !is_affordable(graph)) {
    return std::nullopt;
  }
  plan::Plan plan;
  plan.bias = 2;
  plan.cache.policy = plan::CachePolicy::out_degree;
  plan.cache.budget = 0.2;
  const auto biased = runtime::biased_graph(graph, plan, false);
  kernels::cpu::Sampler by_weight(kernels::cpu::resident_copy_if_fits(biased, Draws::by_weight), job.fanouts);
  kernels::cpu::Sampler uniform(kernels::cpu::resident_copy_if_fits(graph), job.fanouts);
  const auto order = graph::epoch_order(graph.train, job.seed, 0);
  kernels::MiniBatch batch;
  const auto time_s = [&](kernels::cpu::Sampler& sampler, std::int64_t number) {
    const auto seeds = graph::batch_seeds(order, job.batch_size, number);
    const Stopwatch watch;
    sampler.sample({job.seed, 0, static_cast<std::uint64_t>(number)}, seeds, batch);
    return watch.seconds();
  };
  Ratio ratio;
  const Stopwatch watch;
  const std::int64_t batches = graph::num_batches(std::ssize(graph.train), job.batch_size);
  for (std::int64_t number = 0; number < batches && (number < 2 || watch.seconds() < options.time_limit_s);
       ++number) {
    throw_if_stopped(options.stop);
    const double weighted_s = time_s(by_weight, number);
    const double uniform_s = time_s(uniform, number);
    if (number > 0 || batches == 1) {  // the first finds its memory cold
      ratio.add(weighted_s / uniform_s);
    }
  }
  return ratio.value();
}

}  // namespace gnomon::profiles
