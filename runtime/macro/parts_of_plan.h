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

/// The partition that a plan requires.
graph::PartitionRequest request_of(const plan::Macro& macro);

/// The partitioner of plans that read parts made by this method.
plan::Partitioner partitioner_of(graph::PartitionMethod method);

/// Whether the graph's vertices are ordered by parts like the plan's: same number and partitioner.
bool has_parts_of(const graph::Graph& graph, const plan::Macro& macro);

/// The macro-batches of an epoch as unions of parts, without those that have no training vertices. Parts and
/// training vertices are ascending; `part_of` returns the part of a vertex.
std::vector<MacroGroup> groups_of_parts(const plan::Macro& macro, std::uint64_t seed, std::int64_t epoch,
                                        std::span<const graph::VertexId> train,
                                        const std::function<std::int32_t(graph::VertexId)>& part_of);

/// The command line that writes a store whose vertices are ordered by the plan's parts.
std::string partition_command(const graph::Graph& graph, const plan::Macro& macro);

}  // namespace gnomon::runtime
