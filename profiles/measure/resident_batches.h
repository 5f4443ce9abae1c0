#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// Counts what is left of the job's mini-batches if seeds and neighbours are drawn among some shares of the
/// vertices: of whole parts, if the graph's vertices are ordered by part, or else chosen at random. Draws a
/// few mini-batches for each share and as many from the whole graph; at least for one share, and for the
/// others as long as there is time. By ascending share. Empty if the job samples by weights.
std::vector<ResidentBatch> count_resident(const graph::Graph& graph, const plan::Job& job,
                                          const AccessOptions& options);

/// Counts one share, above 0, in `batches` mini-batches. With parts, the share is rounded to a whole
/// number of them. None if no training vertex is resident.
std::optional<ResidentBatch> count_resident(const graph::Graph& graph, const plan::Job& job, double share,
                                            std::int64_t batches);

}  // namespace gnomon::profiles
