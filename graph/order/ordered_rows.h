#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "base/progress.h"
#include "graph/graph.h"
#include "graph/resources.h"

namespace gnomon::graph {

/// Calls write(bytes) with the rows order[0], order[1], … of a dense feature matrix, some whole rows at a
/// time. A matrix beyond the resources' memory is read in sequence and distributed to a scratch file by
/// ranges of the new order, each of which is then put in order in memory; any other is gathered on all cores.
/// Throws Failure if the scratch file cannot be written.
void visit_rows(const Features& features, std::span<const VertexId> order, const Resources& resources,
                const std::function<void(std::span<const std::byte>)>& write,
                const base::Progress& progress = {});

}  // namespace gnomon::graph
