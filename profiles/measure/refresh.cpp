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

/// Refreshes for single mini-batches, which are super-batches of their own.
class Refreshes {
 public:
  Refreshes(const graph::Graph& graph, const plan::Job& job)
      : graph_(graph),
        job_(job),
        model_(job, graph.features.columns, graph.num_classes),
        set_(all_vertices(graph)),
        seeds_(graph::epoch_order(graph.train, job.seed, 0)),
        tools_(kernels::cpu::resident_copy_if_fits(graph, runtime::draws_of(graph, job)), job, {}) {}

  /// The time of a mini-batch's refresh if so many vertices are hot.
  double seconds(std::int64_t batch, std::int64_t hot) {
    runtime::Refresh refresh({.graph = &graph_,
                              .job = &job_,
                              .model = &model_,
                              .set = &set_,
                              .hot = static_cast<std::uint32_t>(hot),
                              .super_batch = batch,
                              .batches = {batch},
                              .parameters = model_.layer(0).parameters()},
                             seeds_);
    const Stopwatch watch;
    refresh.work(tools_);
    return watch.seconds();
  }

 private:
  const graph::Graph& graph_;
  const plan::Job& job_;
  nn::Model model_;
  runtime::HotSet set_;
  std::vector<graph::VertexId> seeds_;
  runtime::RefreshTools tools_;
};

}  // namespace

bool reuses_hot_rows(const plan::Job& job) {
  return job.model != plan::ModelKind::gat && !job.skip && job.layers() >= 2;
}

std::optional<RefreshTimes> measure_refresh(const graph::Graph& graph, const plan::Job& job,
                                            const AccessOptions& options) {
  if (!reuses_hot_rows(job)) {
    return std::nullopt;
  }
  Refreshes refreshes(graph, job);
  const std::int64_t batches = graph::num_batches(std::ssize(graph.train), job.batch_size);
  refreshes.seconds(0, graph.num_vertices());  // its memory is cold
  std::vector<double> finding_s;
  std::vector<double> all_s;
  const Stopwatch watch;
  // Different mini-batches in turn, as the second refresh of one would find its lists in caches.
  for (std::int64_t number = 1; number <= 2 || watch.seconds() < options.time_limit_s; ++number) {
    throw_if_stopped(options.stop);
    const bool computes = number % 2 == 0;
    (computes ? all_s : finding_s)
        .push_back(refreshes.seconds(number % batches, computes ? graph.num_vertices() : 0));
    if (number > batches && computes) {
      break;
    }
  }
  const double finding = base::median(finding_s);
  return RefreshTimes{finding, std::max(0.0, base::median(all_s) - finding)};
}

}  // namespace gnomon::profiles
