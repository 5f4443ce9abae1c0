#include "profiles/measure/refresh.h"

#include <algorithm>
#include <vector>

#include "base/median.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/topology.h"
#include "nn/models.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"
#include "runtime/placement.h"
#include "runtime/reuse/refresh.h"

namespace gnomon::profiles {
namespace {

/// A set in which every vertex is hot.
runtime::HotSet all_vertices(const graph::Graph& graph) {
  return runtime::rank_by_visits(
      std::vector<std::uint32_t>(static_cast<std::size_t>(graph.num_vertices()), 1));
}

}  // namespace

std::optional<double> measure_refresh(const graph::Graph& graph, const plan::Job& job,
                                      const AccessOptions& options) {
  if (job.model == plan::ModelKind::gat || job.skip || job.layers() < 2) {
    return std::nullopt;
  }
  const nn::Model model(job, graph.features.columns, graph.num_classes);
  const auto set = all_vertices(graph);
  const auto seeds = graph::epoch_order(graph.train, job.seed, 0);
  runtime::RefreshTools tools(kernels::cpu::resident_copy_if_fits(graph, runtime::draws_of(graph, job)), job,
                              {});
  std::vector<double> times_s;
  const Stopwatch watch;
  const std::int64_t batches = graph::num_batches(std::ssize(graph.train), job.batch_size);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    throw_if_stopped(options.stop);
    if (batch > 2 && watch.seconds() >= options.time_limit_s) {
      break;
    }
    runtime::Refresh refresh({.graph = &graph,
                              .job = &job,
                              .model = &model,
                              .set = &set,
                              .hot = static_cast<std::uint32_t>(graph.num_vertices()),
                              .super_batch = batch,
                              .batches = {batch},
                              .parameters = model.layer(0).parameters()},
                             seeds);
    const Stopwatch one;
    refresh.work(tools);
    times_s.push_back(one.seconds());
  }
  if (times_s.size() > 1) {
    times_s.erase(times_s.begin());  // its memory was cold
  }
  return base::median(times_s);
}

}  // namespace gnomon::profiles
