#include "runtime/cache/fill_cache.h"

namespace gnomon::runtime {

void drop_cache(DeviceGraph& graph) {
  graph.rows.slots = nullptr;
  graph.rows.cached = nullptr;
  graph.topology.slots = nullptr;
  graph.topology.cached = {};
  graph.own_row_slots = nullptr;
  graph.own_list_slots = nullptr;
  graph.cache_owners.clear();
}

}  // namespace gnomon::runtime
