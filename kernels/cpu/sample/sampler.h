#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/team.h"
#include "graph/graph.h"
#include "kernels/block.h"
#include "kernels/cpu/sample/hop.h"
#include "kernels/cpu/sample/split_sampler.h"
#include "kernels/cpu/sample/topology.h"
#include "kernels/cpu/sample/wide_sampler.h"
#include "kernels/sampling_rule.h"

namespace gnomon::kernels::cpu {

/// With edge ids, every block says which edges of the graph it holds.
enum class EdgeIds : std::uint8_t { leave_out, keep };

/// Threads that share the work of each mini-batch. More of them than cores are of no use.
struct BatchThreads {
  int count = 1;           ///< the caller and count - 1 others; 1 to most_parts
  std::vector<int> cores;  ///< thread i > 0 runs on cores[i] only; empty: where the system puts it
};

/// Samples mini-batches: k hops without replacement, then compaction to local ids. One Sampler serves one
/// thread and keeps its memory from batch to batch; any number of them on one graph draw the same batches,
/// with however many threads each.
class Sampler {
 public:
  /// `fanouts` from the seeds outwards, each -1 (all neighbours) or 1 … max_fanout; throws base::InputError
  /// otherwise, or when there are none. The graph's memory must outlive the sampler, unless the graph's
  /// `storage` owns it. The graph's contents are trusted (graph::validate checks them).
  Sampler(const graph::Graph& graph, std::vector<int> fanouts, EdgeIds edge_ids = EdgeIds::leave_out);
  /// The same on a structure that many samplers share; the fastest on a resident_copy.
  Sampler(Topology topology, std::vector<int> fanouts, EdgeIds edge_ids = EdgeIds::leave_out,
          const BatchThreads& threads = {});

  /// The mini-batch of `seeds`: a pure function of (graph, key, seeds, fanouts). For every vertex and hop
  /// min(degree, fanout) distinct neighbours (positions of its list) are drawn by draw_positions; all of
  /// them, in the order of the graph, when there are no more than the fanout. With weights only edges of
  /// positive weight count: all of them, in the order of the graph, when the degree is no more than the
  /// fanout or the fanout is -1; else as many as the fanout, or all if there are fewer, by draw_by_weight
  /// (weighted_rule.h) and in the order of the draws. `batch`'s vectors are reused.
  /// At most 2^31 - 1 vertices a batch. Throws base::InputError for a seed that is not a vertex or comes
  /// twice; `batch` then holds nothing of use, the sampler stays usable.
  void sample(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);

  /// The memory held from batch to batch: at most most_sampler_bytes (kernels/cpu/sample/worker_memory.h) of
  /// the largest batch that seeds, fanouts and graph allow.
  std::int64_t bytes() const;

  /// The threads, for what else there is to do for a batch.
  base::Team& team() { return *team_; }

 private:
  std::size_t sample_checked(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);
  std::size_t sample_narrow(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);

  Topology topology_;
  std::vector<int> fanouts_;
  EdgeIds edge_ids_;
  std::unique_ptr<base::Team> team_;
  Workspace work_;
  std::optional<SplitSampler> split_;  ///< instead of it with several threads
  std::optional<WideSampler> wide_;    ///< instead of both when ids have more than 32 bits
};

}  // namespace gnomon::kernels::cpu
