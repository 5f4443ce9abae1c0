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

/// Whether blocks record the positions of their edges in the graph's indices.
enum class EdgeIds : std::uint8_t { omit, keep };

/// The threads that share the work of each mini-batch; more threads than cores are useless.
struct BatchThreads {
  int count = 1;                  ///< the caller included; 1 … max_parts
  std::vector<int> cores;         ///< thread i > 0 is pinned to cores[i]; if empty, threads run anywhere
  base::ForkJoin fork_join = {};  ///< threads to use instead of ones that the sampler starts
};

/// Samples mini-batches: k hops of neighbour sampling without replacement, relabelled to local ids. A Sampler
/// is not thread-safe and reuses its memory for all batches. The batches do not depend on the number of
/// samplers or threads.
class Sampler {
 public:
  /// `fanouts` are ordered from the seeds outwards; each is -1 (all neighbours) or 1 … max_fanout. Throws
  /// base::InputError for other fanouts and if there are none. The graph's memory must outlive the sampler
  /// unless the graph's `storage` owns it. The graph's content is not checked (see graph::validate).
  Sampler(const graph::Graph& graph, std::vector<int> fanouts, EdgeIds edge_ids = EdgeIds::omit);
  /// Samples from a topology that many samplers can share. A resident_copy is the fastest.
  Sampler(Topology topology, std::vector<int> fanouts, EdgeIds edge_ids = EdgeIds::omit,
          const BatchThreads& threads = {}, const SamplingRule& rule = {});

  /// Samples the mini-batch of `seeds`, which is a pure function of (graph, key, seeds, fanouts). `batch`'s
  /// vectors are reused.
  ///
  /// In every hop and for every vertex, min(degree, fanout) distinct positions of its neighbour list are
  /// drawn by draw_positions. If the degree is at most the fanout, or the fanout is -1, all neighbours are
  /// taken in the graph's order. With weights, only edges of positive weight count: if the degree is at most
  /// the fanout, or the fanout is -1, all of them are taken in the graph's order; otherwise min(their number,
  /// fanout) are drawn by draw_by_weight (kernels/weighted_rule.h), in the order of the draws. With
  /// replacement, `fanout` positions are drawn unless there are none (kernels/replacement_rule.h), by the
  /// scalar sampler.
  ///
  /// With Expansion::once, the destinations of hop h's block are the vertices that hop h-1 added: in order,
  /// the blocks' destinations are the batch's vertices but those that the last hop added.
  ///
  /// A batch can have at most 2^31 - 1 vertices. Throws base::InputError for a seed that is not a vertex or
  /// is repeated; then `batch` is unspecified and the sampler remains usable.
  void sample(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);

  /// Returns the bytes of memory held between batches: at most max_sampler_bytes (worker_memory.h) of the
  /// largest possible batch.
  std::int64_t bytes() const;

  /// The sampler's threads, for further work on a batch.
  base::Team& team() { return *team_; }

 private:
  std::size_t sample_checked(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);
  std::size_t sample_narrow(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);

  Topology topology_;
  std::vector<int> fanouts_;
  EdgeIds edge_ids_;
  SamplingRule rule_;
  std::unique_ptr<base::Team> team_;
  Workspace work_;
  std::optional<SplitSampler> split_;  ///< used with several threads
  /// Used if ids have more than 32 bits, with replacement, and if the lists are not in memory.
  std::optional<WideSampler> wide_;
};

}  // namespace gnomon::kernels::cpu
