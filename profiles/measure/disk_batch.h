#pragma once

#include <memory>
#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "runtime/placement.h"

namespace gnomon::profiles {

/// What preparing a mini-batch takes longer on one core, in seconds, if its rows and its adjacency lists are
/// on the disk and a cache in host memory (plan::CachePolicy::recent) holds them all: the work beside
/// reading.
struct DiskBatchTimes {
  double rows_s = 0;
  double lists_s = 0;
};

/// Measures it with a few mini-batches. `placed` is the graph in host memory. None for graphs that are not a
/// store's, sparse features and jobs that sample by weights, which plans cannot read from the disk.
std::optional<DiskBatchTimes> measure_disk_batch(const graph::Graph& graph,
                                                 const std::shared_ptr<const runtime::PlacedGraph>& placed,
                                                 const plan::Job& job);

}  // namespace gnomon::profiles
