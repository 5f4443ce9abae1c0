#pragma once

#include <memory>
#include <optional>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/accesses.h"
#include "runtime/placement.h"

namespace gnomon::profiles {

/// What a mini-batch takes on one core, in seconds, if its rows and its adjacency lists are on the disk.
struct DiskBatchTimes {
  /// What preparing it takes longer if a cache in host memory (plan::CachePolicy::recent) holds all of its
  /// rows, or lists: the work beside reading. Unknown where such a cache is too large for a measurement.
  std::optional<double> rows_s{};
  std::optional<double> lists_s{};
  /// Deciding which rows a cache holds (plan::CachePolicy::optimal). Unknown where the tables by vertex are
  /// too large for a measurement.
  std::optional<double> choices_s{};
};

/// Measures it with a few mini-batches, at least one. `placed` is the graph in host memory. Unknown for
/// graphs that are not a store's, sparse features and jobs that sample by weights, which plans cannot read
/// from the disk.
DiskBatchTimes measure_disk_batch(const graph::Graph& graph,
                                  const std::shared_ptr<const runtime::PlacedGraph>& placed,
                                  const plan::Job& job, const AccessOptions& options);

}  // namespace gnomon::profiles
