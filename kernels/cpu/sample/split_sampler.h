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

/// The sampler whose mini-batches are each the work of several threads: the same batches, sooner. In a hop
/// every thread draws for a range of the destinations and deals what it drew out by vertex; every thread then
/// numbers the vertices that fall to it; and since each knows how many new vertices come before those of its
/// range, all get the local ids that one thread would have given them. Its inputs were checked by Sampler; at
/// most 2^32 vertices.
class SplitSampler {
 public:
  SplitSampler(Topology topology, std::vector<int> fanouts, bool edge_ids, base::Team& team);

  /// Sampler::sample, but for the checks; returns how many seeds came before the first that comes twice.
  std::size_t sample(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);

  std::int64_t bytes() const;

 private:
  std::size_t add_seeds(std::span<const graph::VertexId> seeds, MiniBatch& batch);
  void place_parts(Block& block);
  void name_new(MiniBatch& batch, Block* block);
  void settle_all(MiniBatch& batch, std::size_t room_before);
  template <class Work>
  void step(std::int64_t edges, Work work);

  Topology topology_;
  std::vector<int> fanouts_;
  bool edge_ids_;
  base::Team& team_;
  std::vector<Part> parts_;
  GrowingArray<std::uint32_t> vertices_;  ///< of the batch, in local order
  std::int64_t size_ = 0;                 ///< how many
};

}  // namespace gnomon::kernels::cpu
