#pragma once

#include <vector>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"
#include "profiles/profile.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

/// Measures mini-batches of an eighth and of half the fanouts beside those of the job, from a small graph, as
/// each is placed in memory once more. By ascending size. Empty if no fanout can be reduced.
std::vector<ThinBatch> measure_thin(const graph::Graph& graph, const plan::Job& job,
                                    const runtime::DeviceOptions& device, const AccessOptions& options);

}  // namespace gnomon::profiles
