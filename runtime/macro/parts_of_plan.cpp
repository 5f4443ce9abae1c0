#include "runtime/macro/parts_of_plan.h"

#include <algorithm>
#include <utility>

#include "graph/partition/macro_batches.h"
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

plan::Partitioner partitioner_of(graph::PartitionMethod method) {
  for (const auto partitioner : {plan::Partitioner::random, plan::Partitioner::gnn_aware}) {
    if (method_of(partitioner) == method) {
      return partitioner;
    }
  }
  return plan::Partitioner::metis;
}

bool has_parts_of(const graph::Graph& graph, const plan::Macro& macro) {
  return graph.parts != nullptr && graph.parts->count() == macro.partitions &&
         graph.parts->request.method == method_of(macro.partitioner);
}

std::vector<MacroGroup> groups_of_parts(const plan::Macro& macro, std::uint64_t seed, std::int64_t epoch,
                                        std::span<const graph::VertexId> train,
                                        const std::function<std::int32_t(graph::VertexId)>& part_of) {
  std::vector<MacroGroup> groups;
  std::vector<std::size_t> group_of(static_cast<std::size_t>(macro.partitions));
  for (auto& parts :
       graph::macro_batches(macro.partitions, macro.resident, seed, static_cast<std::uint64_t>(epoch))) {
    for (const auto part : parts) {
      group_of[static_cast<std::size_t>(part)] = groups.size();
    }
    std::sort(parts.begin(), parts.end());
    groups.push_back({std::move(parts), {}});
  }
  for (const graph::VertexId vertex : train) {
    groups[group_of[static_cast<std::size_t>(part_of(vertex))]].train.push_back(vertex);
  }
  std::erase_if(groups, [](const MacroGroup& group) { return group.train.empty(); });
  return groups;
}

std::string partition_command(const graph::Graph& graph, const plan::Macro& macro) {
  return "gnomon partition " + graph.directory.string() + " --parts " + std::to_string(macro.partitions) +
         " --method " + std::string(base::name_of(method_of(macro.partitioner))) + " --store NEW_STORE";
}

}  // namespace gnomon::runtime
