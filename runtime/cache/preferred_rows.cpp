#include "runtime/cache/preferred_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/out_degrees.h"

namespace gnomon::runtime {

std::vector<graph::VertexId> preferred_rows(const graph::Graph& graph, const plan::Plan& plan) {
  const auto uses = graph::out_degrees<std::int64_t>(graph);
  std::vector<graph::VertexId> order(uses.size());
  std::iota(order.begin(), order.end(), graph::VertexId{0});
  std::stable_sort(order.begin(), order.end(), [&](graph::VertexId a, graph::VertexId b) {
    return uses[static_cast<std::size_t>(a)] > uses[static_cast<std::size_t>(b)];
  });
  order.resize(static_cast<std::size_t>(std::llround(plan.cache.budget * static_cast<double>(order.size()))));
  return order;
}

std::vector<std::int32_t> slots_of(std::int64_t num_vertices, const std::vector<graph::VertexId>& vertices) {
  std::vector<std::int32_t> slots(static_cast<std::size_t>(num_vertices), -1);
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    slots[static_cast<std::size_t>(vertices[i])] = static_cast<std::int32_t>(i);
  }
  return slots;
}

}  // namespace gnomon::runtime
