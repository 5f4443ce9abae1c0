#pragma once

#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"
#include "runtime/device.h"

namespace gnomon::profiles {

/// Evaluates a model of the job on the validation vertices on all cores, as training does after an epoch, and
/// times it. The time is absent if an evaluation exceeds the time limit or the available memory. None without
/// validation vertices.
std::optional<EvaluationProfile> measure_evaluation(const graph::Graph& graph, const plan::Job& job,
                                                    const runtime::DeviceOptions& device,
                                                    const AccessOptions& options);

}  // namespace gnomon::profiles
