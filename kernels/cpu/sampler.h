#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "kernels/block.h"
#include "kernels/sampling_rule.h"

namespace gnomon::kernels::cpu {

/// Samples mini-batches: k hops without replacement, then compaction to local ids. One Sampler serves one
/// thread and keeps its memory from batch to batch; any number of them on one graph draw the same batches.
class Sampler {
 public:
  /// `fanouts` from the seeds outwards, each -1 (all neighbours) or 1 … max_fanout; throws base::InputError
  /// otherwise. The graph's memory must outlive the sampler.
  Sampler(const graph::Graph& graph, std::vector<int> fanouts);

  /// The mini-batch of `seeds` (distinct vertices): a pure function of (graph, key, seeds, fanouts). For
  /// every vertex and hop min(degree, fanout) distinct neighbours are drawn by draw_positions; all of them,
  /// in the order of the graph, when there are no more than the fanout. `batch`'s vectors are reused. At most
  /// 2^31 - 1 vertices a batch.
  void sample(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);
};

}  // namespace gnomon::kernels::cpu
