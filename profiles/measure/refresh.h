#pragma once

#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"

namespace gnomon::profiles {

/// Whether the job's model can reuse rows of its first layer.
bool reuses_hot_rows(const plan::Job& job);

/// What a worker does on one core for the reuse of hot embeddings (runtime/reuse/refresh.h), in seconds.
struct RefreshTimes {
  double find_s = 0;     ///< to find the destinations of a mini-batch's first layer
  double compute_s = 0;  ///< to compute the rows of all of them
};

/// The medians of a few mini-batches. None without reuses_hot_rows().
std::optional<RefreshTimes> measure_refresh(const graph::Graph& graph, const plan::Job& job,
                                            const AccessOptions& options);

}  // namespace gnomon::profiles
