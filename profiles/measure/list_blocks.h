#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/sampled_epochs.h"

namespace gnomon::profiles {

/// The blocks of a store's file of adjacency lists that an epoch reads.
struct BlockCounts {
  Counts uses;       ///< by block: the number of lists' reads that drew from it
  double reads = 0;  ///< of the epoch, blocks at most plan::disk_gap_bytes apart merged
  std::int64_t sum() const;
};

/// Counts the blocks of `block_bytes` from which the reads of lists in `epoch` draw. Each read draws as many
/// neighbours as its list has or the mean fanout, whichever is less; draws from lists of several blocks are
/// random, keyed by the job's seed and `number`.
BlockCounts count_blocks(const graph::Graph& graph, const plan::Job& job, const EpochCounts& epoch,
                         std::uint64_t number, std::int64_t block_bytes);

}  // namespace gnomon::profiles
