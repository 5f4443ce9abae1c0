#pragma once

#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"
#include "profiles/profile.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

/// Measures mini-batches that reuse the rows of a fifth of the vertices beside usual ones, from a small
/// graph, all of whose mini-batches are sampled to find hot vertices. None if the job's model cannot reuse
/// rows, or no edge is saved.
std::optional<HotBatch> measure_hot(const graph::Graph& graph, const plan::Job& job,
                                    const runtime::DeviceOptions& device, const AccessOptions& options);

}  // namespace gnomon::profiles
