#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "kernels/block.h"
#include "kernels/cpu/id_table.h"
#include "kernels/sampling_rule.h"

namespace gnomon::kernels::cpu {

/// Samples mini-batches: k hops without replacement, then compaction to local ids. One Sampler serves one
/// thread and keeps its memory from batch to batch; any number of them on one graph draw the same batches.
class Sampler {
 public:
  /// `fanouts` from the seeds outwards, each -1 (all neighbours) or 1 … max_fanout; throws base::InputError
  /// otherwise, or when there are none. The graph's memory must outlive the sampler, unless the graph's
  /// `storage` owns it. The graph's contents are trusted (graph::validate checks them).
  Sampler(const graph::Graph& graph, std::vector<int> fanouts);

  /// The mini-batch of `seeds`: a pure function of (graph, key, seeds, fanouts). For every vertex and hop
  /// min(degree, fanout) distinct neighbours (positions of its list) are drawn by draw_positions; all of
  /// them, in the order of the graph, when there are no more than the fanout. `batch`'s vectors are reused.
  /// At most 2^31 - 1 vertices a batch. Throws base::InputError for a seed that is not a vertex or comes
  /// twice; `batch` then holds nothing of use, the sampler stays usable.
  void sample(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);

 private:
  void add_seeds(std::span<const graph::VertexId> seeds, MiniBatch& batch);
  void draw_edges(const BatchKey& key, std::uint32_t hop, const MiniBatch& batch, Block& block);
  void read_neighbours();
  void relabel(MiniBatch& batch, Block& block);

  graph::Graph graph_;
  std::vector<int> fanouts_;
  IdTable table_;
  std::vector<std::int64_t> edges_;  ///< of one hop: positions in graph.indices, then the neighbours there
};

}  // namespace gnomon::kernels::cpu
