#pragma once

#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"

namespace gnomon::profiles {

/// Returns how many times as long one thread samples a mini-batch for plans that prefer cached neighbours
/// (A3GNN, section III), which draw by weight, as for plans that draw uniformly: the same seeds, with a bias
/// of 2 towards a fifth of the vertices. None if the job itself draws by weight, or if the graph is so large
/// that its alias tables would take more than their share of a profile's memory and time.
std::optional<double> measure_biased_sampling(const graph::Graph& graph, const plan::Job& job,
                                              const AccessOptions& options);

}  // namespace gnomon::profiles
