#include "runtime/macro/parts_of_plan.h"

#include "graph/partition/parts.h"

namespace gnomon::runtime {
namespace {

graph::PartitionMethod method_of(plan::Partitioner partitioner) {
  switch (partitioner) {
    case plan::Partitioner::random:
      return graph::PartitionMethod::random;
    case plan::Partitioner::gnn_aware:
      return graph::PartitionMethod::gnn_aware;
    case plan::Partitioner::metis:
      break;
  }
  return graph::PartitionMethod::metis;
}

}  // namespace

graph::PartitionRequest request_of(const plan::Macro& macro) {
  return {.method = method_of(macro.partitioner), .parts = macro.partitions};
}

bool has_parts_of(const graph::Graph& graph, const plan::Macro& macro) {
  return graph.parts != nullptr && graph.parts->count() == macro.partitions &&
         graph.parts->request.method == method_of(macro.partitioner);
}

std::string partition_command(const graph::Graph& graph, const plan::Macro& macro) {
  return "gnomon partition " + graph.directory.string() + " --parts " + std::to_string(macro.partitions) +
         " --method " + std::string(base::name_of(method_of(macro.partitioner))) + " --store NEW_STORE";
}

}  // namespace gnomon::runtime
