#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/team.h"
#include "kernels/block.h"
#include "kernels/cpu/sample/split.h"
#include "kernels/cpu/sample/topology.h"
#include "kernels/sampling_rule.h"

namespace gnomon::kernels::cpu {

/// Samples each mini-batch with several threads; the batches are those of one thread. In each hop, every
/// thread draws for a range of the destinations and sends the neighbours to the threads that own them (by a
/// hash of the id). Then every thread numbers the vertices that it owns. A prefix sum over the numbers of new
/// vertices of all ranges finally yields the local ids that a single thread would have assigned.
/// Preconditions: Sampler has checked the input; the graph has at most 2^32 vertices.
class SplitSampler {
 public:
  SplitSampler(Topology topology, std::vector<int> fanouts, bool edge_ids, base::Team& team,
               const SamplingRule& rule = {});

  /// Sampler::sample without the checks. Returns the number of seeds before the first repeated one.
  std::size_t sample(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);

  std::int64_t bytes() const;

 private:
  std::size_t add_seeds(std::span<const graph::VertexId> seeds, MiniBatch& batch);
  void place_parts(Block& block);
  void assign_local_ids(MiniBatch& batch, Block* block);
  void end_batch(MiniBatch& batch, std::size_t room_before);
  template <class Work>
  void step(std::int64_t edges, Work work);

  Topology topology_;
  std::vector<int> fanouts_;
  bool edge_ids_;
  SamplingRule rule_;
  base::Team& team_;
  std::vector<Part> parts_;
  GrowingArray<std::uint32_t> vertices_;  ///< of the batch, in the order of the local ids
  std::int64_t size_ = 0;                 ///< the number of vertices
};

}  // namespace gnomon::kernels::cpu
