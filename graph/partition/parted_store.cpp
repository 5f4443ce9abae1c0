#include "graph/partition/parted_store.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/index.h"
#include "graph/order/reorder.h"
#include "graph/partition/hubs.h"
#include "graph/store/names.h"

namespace gnomon::graph {
namespace {

using base::at;

/// The first vertex of each part in the order by parts, and the number of vertices.
std::vector<VertexId> bounds_of(const PartOf& part_of, int parts) {
  std::vector<VertexId> bounds(at(parts) + 1, 0);
  for (const std::int32_t part : part_of) {
    ++bounds[at(part) + 1];
  }
  std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
  return bounds;
}

/// The vertices ordered by part: a counting sort, which keeps the order within a part.
std::vector<VertexId> order_by_part(const PartOf& part_of, std::vector<VertexId> next) {
  std::vector<VertexId> order(part_of.size());
  for (std::size_t vertex = 0; vertex < part_of.size(); ++vertex) {
    order[at(next[at(part_of[vertex])]++)] = static_cast<VertexId>(vertex);
  }
  return order;
}

/// The hubs by their ids in the new order.
std::vector<VertexId> hubs_in(std::span<const VertexId> order, std::vector<VertexId> hubs) {
  std::vector<VertexId> new_ids(order.size());
  for (std::size_t id = 0; id < order.size(); ++id) {
    new_ids[at(order[id])] = static_cast<VertexId>(id);
  }
  std::transform(hubs.begin(), hubs.end(), hubs.begin(), [&](VertexId hub) { return new_ids[at(hub)]; });
  return hubs;
}

}  // namespace

void PartedStoreWriter::commit(const Graph& graph, const PartOf& part_of, const PartitionRequest& request,
                               const HubRequest& hubs, const base::Progress& progress,
                               const Resources& resources) {
  const auto bounds = bounds_of(part_of, request.parts);
  const auto order = order_by_part(part_of, bounds);
  const auto count = num_hubs(hubs.ratio, graph.num_vertices());
  std::vector<VertexId> most;
  if (count > 0) {
    most = hubs_in(order, most_influential(influence_on_training(graph, hubs.steps, progress), count));
  }
  write_reordered(graph, order, writer_, resources, progress);
  writer_.write_array("parts.npy", DType::int64, std::span<const VertexId>(bounds));
  writer_.write_array("hubs.npy", DType::int64, std::span<const VertexId>(most));
  StoreMeta meta = meta_of(graph);
  meta.order = VertexOrder::none;
  meta.parts = PartsMeta{request, std::ssize(most), most.empty() ? 0 : hubs.steps};
  if (!graph.directory.empty()) {
    copy_names(graph.directory, writer_.path_of(""));
  }
  writer_.commit(meta);
}

}  // namespace gnomon::graph
