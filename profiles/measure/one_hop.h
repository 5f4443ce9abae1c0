#pragma once

#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

/// The median times, in seconds, to prepare a mini-batch of one hop on a CPU worker, and to train it with the
/// pulls and pushes of historical embeddings (runtime/training/history_step.h).
struct OneHopTimes {
  double cpu_batch_s = 0;
  double train_s = 0;
};

/// Measures mini-batches of a plan that reuses the embeddings of all vertices one by one, a few even after
/// the time limit. None if the embeddings would take more than a quarter of the available memory or 4 GiB.
std::optional<OneHopTimes> measure_one_hop(const graph::Graph& graph, const plan::Job& job,
                                           const runtime::DeviceOptions& device,
                                           const AccessOptions& options);

}  // namespace gnomon::profiles
