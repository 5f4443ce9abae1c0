#include "graph/partition/report.h"

#include <string>

#include "base/error.h"
#include "graph/partition/hubs.h"

namespace gnomon::graph {
namespace {

std::vector<VertexId> hubs_for(const Graph& graph, const MacroRequest& macro,
                               const base::Progress& progress) {
  const auto count = num_hubs(macro.hub_ratio, graph.num_vertices());
  return count == 0 ? std::vector<VertexId>()
                    : hubs_of(influence_on_training(graph, macro.hub_steps, progress), count);
}

}  // namespace

void check_resident(const MacroRequest& macro, int parts) {
  if (macro.resident < 1 || macro.resident > parts) {
    throw base::InputError("resident", std::to_string(macro.resident) + " is out of range; use 1 to " +
                                           std::to_string(parts) + ", the number of parts");
  }
}

PartitionReport report_on(const Graph& graph, const PartOf& part_of, const PartitionRequest& partition,
                          const MacroRequest& macro, const base::Progress& progress) {
  check_resident(macro, partition.parts);
  PartitionReport report;
  report.partition = partition;
  report.macro = macro;
  report.quality = quality_of(graph, part_of, partition.parts, progress);
  const auto hubs = hubs_for(graph, macro, progress);
  report.macro_batches = working_sets(
      graph, part_of, macro_batches(partition.parts, macro.resident, partition.seed, 0), hubs, progress);
  return report;
}

}  // namespace gnomon::graph
