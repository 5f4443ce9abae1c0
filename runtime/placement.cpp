#include "runtime/placement.h"

#include <algorithm>
#include <utility>

#include "base/cores.h"
#include "base/error.h"
#include "base/interleave.h"
#include "kernels/cpu/features.h"

namespace gnomon::runtime {

kernels::cpu::Draws draws_of(const graph::Graph& graph, const plan::Job& job) {
  if (job.weighted && graph.edge_weights.empty() && graph.num_edges() > 0) {
    throw base::InputError("job: weighted",
                           "graph \"" + graph.name + "\" has no edge weights; import it with --edge-weights");
  }
  return job.weighted ? kernels::cpu::Draws::by_weight : kernels::cpu::Draws::uniform;
}

std::vector<std::vector<int>> thread_cores(const plan::Plan& plan) {
  std::vector<std::vector<int>> cores(static_cast<std::size_t>(std::max(1, plan.workers)));
  if (plan.pinning == plan::Pinning::cores) {
    const auto order = base::pinning_order(base::allowed_cores());
    std::size_t next = 0;
    for (auto& of_worker : cores) {
      for (int thread = 0; thread < plan.worker_threads; ++thread) {
        of_worker.push_back(order[next++ % order.size()]);
      }
    }
  }
  return cores;
}

std::vector<int> worker_cores(const plan::Plan& plan) {
  std::vector<int> cores;
  for (const auto& of_worker : thread_cores(plan)) {
    if (!of_worker.empty()) {
      cores.push_back(of_worker.front());
    }
  }
  return cores;
}

PlacedGraph place(const graph::Graph& graph, kernels::cpu::Draws draws, plan::Placement placement,
                  const std::vector<int>& nodes) {
  const bool is_spread = placement == plan::Placement::interleave && nodes.size() > 1;
  const base::Interleave interleave(is_spread ? nodes : std::vector<int>{});
  auto topology = kernels::cpu::resident_copy_if_fits(graph, draws);
  return {
      is_spread && kernels::cpu::can_copy_features(graph) ? kernels::cpu::with_copied_features(graph) : graph,
      std::move(topology)};
}

}  // namespace gnomon::runtime
