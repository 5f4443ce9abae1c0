#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/block.h"
#include "kernels/cpu/sample/hop.h"
#include "kernels/cpu/sample/id_table.h"
#include "kernels/cpu/sample/topology.h"
#include "kernels/sampling_rule.h"

namespace gnomon::kernels::cpu {

/// The scalar sampler. It yields the same batches as the vectorised one, and also supports graphs of more
/// than 2^32 vertices (whose ids do not fit into the vectorised sampler's slots), draws with replacement, and
/// lists that are not in memory, which it reads hop by hop. Precondition: Sampler has checked the input.
class WideSampler {
 public:
  WideSampler(Topology topology, std::vector<int> fanouts, bool edge_ids = false,
              const SamplingRule& rule = {});

  /// Sampler::sample without the checks. Returns the number of seeds before the first repeated one.
  std::size_t sample(const BatchKey& key, std::span<const graph::VertexId> seeds, MiniBatch& batch);

  std::int64_t bytes() const;

 private:
  void draw_edges(const BatchKey& key, std::uint32_t hop, std::size_t first, const MiniBatch& batch,
                  Block& block);
  void draw_uniform(const BatchKey& key, std::uint32_t hop, graph::VertexId vertex, int fanout);
  void draw_by_weight(const BatchKey& key, std::uint32_t hop, graph::VertexId vertex, int fanout);
  void draw_with_replacement(const BatchKey& key, std::uint32_t hop, graph::VertexId vertex, int fanout);
  void read_neighbours();
  void relabel(MiniBatch& batch, Block& block);
  graph::VertexId neighbour(std::size_t drawn) const;

  Topology topology_;
  std::vector<int> fanouts_;
  bool edge_ids_;
  SamplingRule rule_;
  IdTable table_;
  std::vector<std::int64_t> edges_;          ///< the drawn edges of one hop: positions in the graph's indices
  std::unique_ptr<NeighbourReader> lists_;   ///< null if the lists are in memory
  std::vector<graph::VertexId> neighbours_;  ///< of edges_, if the lists are not in memory
};

}  // namespace gnomon::kernels::cpu
