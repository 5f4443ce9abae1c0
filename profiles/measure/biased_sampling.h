#pragma once

#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"

namespace gnomon::profiles {

/// Returns the time to sample a mini-batch with a bias towards cached neighbours (A3GNN, section III), which
/// draws by weight, relative to uniform sampling, on one thread: the same seeds, with a bias of 2 towards a
/// fifth of the vertices. None if the job itself draws by weight, or if the graph is so large that its alias
/// tables would take more than their share of a profile's memory and time.
std::optional<double> measure_biased_sampling(const graph::Graph& graph, const plan::Job& job,
                                              const AccessOptions& options);

}  // namespace gnomon::profiles
