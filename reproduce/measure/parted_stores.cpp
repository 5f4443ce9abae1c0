#include "reproduce/measure/parted_stores.h"

#include <algorithm>

#include "base/document.h"
#include "graph/partition/parted_store.h"
#include "graph/partition/partition.h"
#include "graph/store/store.h"
#include "runtime/macro/parts_of_plan.h"

namespace gnomon::reproduce {

const graph::Graph& PartedStores::graph_for(const graph::Graph& graph, const plan::Plan& plan, int layers,
                                            const base::Progress& progress) {
  const bool reads_parts = plan.schedule == plan::Schedule::macro_batch && plan.features == plan::Home::disk;
  if (!reads_parts || runtime::has_parts_of(graph, plan.macro)) {
    return graph;
  }
  const auto request = runtime::request_of(plan.macro);
  graph::HubRequest hubs;
  hubs.ratio = std::max(hubs.ratio, plan.macro.hub_ratio);
  hubs.steps = layers;
  const auto key = graph.name + base::write_value(request).dump() + std::to_string(hubs.ratio) + "," +
                   std::to_string(hubs.steps);
  if (const auto found = stores_.find(key); found != stores_.end()) {
    return found->second;
  }
  const auto path = directory_ / std::to_string(stores_.size());
  graph::PartedStoreWriter writer(path);
  writer.commit(graph, graph::partition(graph, request, progress), request, hubs, progress);
  return stores_.emplace(key, graph::open_store(path)).first->second;
}

}  // namespace gnomon::reproduce
