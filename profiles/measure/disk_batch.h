#pragma once

#include <memory>
#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"
#include "runtime/placement.h"

namespace gnomon::profiles {

/// What preparing a mini-batch takes longer on one core, in seconds, if its rows and its adjacency lists are
/// on the disk and a cache in host memory (plan::CachePolicy::recent) holds them all: the work beside
/// reading. Unknown where such a cache would be too large for a measurement.
struct DiskBatchTimes {
  std::optional<double> rows_s{};
  std::optional<double> lists_s{};
};

/// Measures it with a few mini-batches, at least one. `placed` is the graph in host memory. Unknown for
/// graphs that are not a store's, sparse features and jobs that sample by weights, which plans cannot read
/// from the disk.
DiskBatchTimes measure_disk_batch(const graph::Graph& graph,
                                  const std::shared_ptr<const runtime::PlacedGraph>& placed,
                                  const plan::Job& job, const AccessOptions& options);

}  // namespace gnomon::profiles
