#include "runtime/training/biased_graph.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace gnomon::runtime {
namespace {

/// For each vertex whether it is among the `share` of the vertices that are a neighbour most often.
std::vector<bool> most_held(const graph::Graph& graph, double share) {
  const auto count = static_cast<std::size_t>(graph.num_vertices());
  std::vector<std::int64_t> uses(count);
  for (const graph::VertexId neighbour : graph.indices) {
    ++uses[static_cast<std::size_t>(neighbour)];
  }
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return uses[a] > uses[b]; });
  order.resize(static_cast<std::size_t>(std::llround(share * static_cast<double>(count))));
  std::vector<bool> is_held(count);
  for (const std::size_t vertex : order) {
    is_held[vertex] = true;
  }
  return is_held;
}

/// Memory that a biased graph owns.
struct Held {
  std::shared_ptr<const void> graph;
  std::vector<float> weights;
};

}  // namespace

graph::Graph biased_graph(const graph::Graph& graph, const plan::Plan& plan, bool by_weight) {
  const auto is_held = most_held(graph, plan.cache.budget);
  auto held = std::make_shared<Held>(Held{graph.storage, std::vector<float>(graph.indices.size(), 1)});
  for (std::size_t edge = 0; edge < held->weights.size(); ++edge) {
    const float own = by_weight ? graph.edge_weights[edge] : 1;
    const bool is_preferred = is_held[static_cast<std::size_t>(graph.indices[edge])];
    held->weights[edge] = is_preferred ? own * static_cast<float>(plan.bias) : own;
  }
  graph::Graph biased = graph;
  biased.edge_weights = held->weights;
  biased.storage = std::move(held);
  return biased;
}

}  // namespace gnomon::runtime
