#pragma once

#include <string>

#include "graph/graph.h"
#include "graph/partition/partition.h"
#include "plan/plan.h"

namespace gnomon::runtime {

/// How a plan's parts are made.
graph::PartitionRequest request_of(const plan::Macro& macro);

/// Whether the graph's vertices are ordered by parts such as the plan's: as many, by the same method.
bool has_parts_of(const graph::Graph& graph, const plan::Macro& macro);

/// The command that writes a store that is ordered by the plan's parts.
std::string partition_command(const graph::Graph& graph, const plan::Macro& macro);

}  // namespace gnomon::runtime
