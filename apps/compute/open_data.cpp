#include "apps/compute/open_data.h"

#include "base/interleave.h"
#include "graph/store/checked_store.h"
#include "kernels/cpu/features.h"
#include "runtime/placement.h"
#include "runtime/training/history_bytes.h"

namespace gnomon::apps {

graph::Graph open_training_data(const std::string& data, const plan::Job& job, const plan::Plan* plan) {
  auto graph = graph::open_store(data);
  runtime::draws_of(graph, job);
  graph::validate_once(graph, true);
  // With several NUMA nodes, the plan determines the placement of features.
  const bool stays =
      (plan != nullptr && plan->features == plan::Home::disk) || base::memory_nodes().size() > 1;
  const auto others = plan == nullptr ? 0 : runtime::history_bytes(*plan, job, graph.num_vertices());
  return !stays && kernels::cpu::can_copy_features(graph, others) ? kernels::cpu::with_copied_features(graph)
                                                                  : graph;
}

}  // namespace gnomon::apps
