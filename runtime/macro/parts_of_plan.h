#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/partition/partition.h"
#include "plan/plan.h"
#include "runtime/macro/macro_layout.h"

namespace gnomon::runtime {

/// How a plan's parts are made.
graph::PartitionRequest request_of(const plan::Macro& macro);

/// Whether the graph's vertices are ordered by parts such as the plan's: as many, by the same method.
bool has_parts_of(const graph::Graph& graph, const plan::Macro& macro);

/// The macro-batches of an epoch as unions of parts, those without training vertices left out. Parts and
/// training vertices of each ascend; `part_of` tells the part of a vertex.
std::vector<MacroGroup> groups_of_parts(const plan::Macro& macro, std::uint64_t seed, std::int64_t epoch,
                                        std::span<const graph::VertexId> train,
                                        const std::function<std::int32_t(graph::VertexId)>& part_of);

/// The command that writes a store that is ordered by the plan's parts.
std::string partition_command(const graph::Graph& graph, const plan::Macro& macro);

}  // namespace gnomon::runtime
