#pragma once

#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"

namespace gnomon::profiles {

/// Returns the time that a worker needs on one core to find the destinations of a mini-batch's first layer
/// and to compute their rows (runtime/reuse/refresh.h): the median of at least two mini-batches. None if the
/// job's model cannot reuse rows.
std::optional<double> measure_refresh(const graph::Graph& graph, const plan::Job& job,
                                      const AccessOptions& options);

}  // namespace gnomon::profiles
