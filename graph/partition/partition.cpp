#include "graph/partition/partition.h"

#include <string>

#include "base/error.h"
#include "base/index.h"
#include "base/philox.h"
#include "base/shuffle.h"
#include "graph/metis/metis.h"
#include "graph/partition/gnn_aware.h"

namespace gnomon::graph {
namespace {

/// Levels 0 and 1 of the purpose are those of epochs and of caches.
constexpr std::uint32_t random_level = 2;

PartOf partition_randomly(const Graph& graph, const PartitionRequest& request) {
  PartOf part_of(base::at(graph.num_vertices()));
  for (std::size_t vertex = 0; vertex < part_of.size(); ++vertex) {
    part_of[vertex] = static_cast<std::int32_t>(vertex % base::at(request.parts));
  }
  base::RandomStream random({.seed = request.seed, .purpose = base::Purpose::shuffle, .level = random_level});
  base::shuffle(part_of, random);
  return part_of;
}

}  // namespace

PartOf partition(const Graph& graph, const PartitionRequest& request, const base::Progress& progress) {
  if (request.parts < 1 || request.parts > graph.num_vertices()) {
    throw base::InputError("parts", std::to_string(request.parts) + " is out of range; use 1 to " +
                                        std::to_string(graph.num_vertices()) +
                                        ", the number of the graph's vertices");
  }
  switch (request.method) {
    case PartitionMethod::random:
      return partition_randomly(graph, request);
    case PartitionMethod::metis:
      return partition_by_metis(graph, request, progress);
    case PartitionMethod::gnn_aware:
      break;
  }
  return partition_gnn_aware(graph, request, progress);
}

}  // namespace gnomon::graph
