#include "runtime/training/biased_graph.h"

#include <memory>
#include <utility>
#include <vector>

#include "runtime/cache/preferred_rows.h"

namespace gnomon::runtime {
namespace {

/// Memory owned by a biased graph.
struct WeightsOfBiased {
  std::shared_ptr<const void> graph;
  std::vector<float> weights;
};

}  // namespace

graph::Graph biased_graph(const graph::Graph& graph, const plan::Plan& plan, bool by_weight) {
  std::vector<bool> is_preferred(static_cast<std::size_t>(graph.num_vertices()));
  for (const graph::VertexId vertex : preferred_rows(graph, plan)) {
    is_preferred[static_cast<std::size_t>(vertex)] = true;
  }
  auto held = std::make_shared<WeightsOfBiased>(
      WeightsOfBiased{graph.storage, std::vector<float>(graph.indices.size(), 1)});
  for (std::size_t edge = 0; edge < held->weights.size(); ++edge) {
    const float own = by_weight ? graph.edge_weights[edge] : 1;
    const bool is_cached = is_preferred[static_cast<std::size_t>(graph.indices[edge])];
    held->weights[edge] = is_cached ? own * static_cast<float>(plan.bias) : own;
  }
  graph::Graph biased = graph;
  biased.edge_weights = held->weights;
  biased.storage = std::move(held);
  return biased;
}

}  // namespace gnomon::runtime
