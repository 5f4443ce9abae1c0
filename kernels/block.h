#pragma once

#include <cstdint>
#include <vector>

namespace gnomon::kernels {

/// One sampled hop as a bipartite graph in CSC form over local ids. Destination v gathers from sources
/// indices[indptr[v]] … indices[indptr[v+1]-1]; destinations are the first num_destinations of the sources.
struct Block {
  std::int64_t num_destinations = 0;
  std::int64_t num_sources = 0;
  std::vector<std::int64_t> indptr;   ///< num_destinations + 1
  std::vector<std::int32_t> indices;  ///< local ids of sources
  /// The position of each edge in the graph's indices if the sampler keeps edge ids; otherwise empty.
  std::vector<std::int64_t> edge_ids;

  std::int64_t num_edges() const { return static_cast<std::int64_t>(indices.size()); }
};

/// A sampled mini-batch. `vertices` maps local ids to global ids: first the seeds, then the others in the
/// order of their first appearance, hop by hop. The sources of hop h's block are the first
/// blocks[h].num_sources of them, and its destinations are the sources of hop h-1 (the seeds for h = 0): each
/// hop expands every vertex seen so far again, with fresh draws, or each only once (cpu/sample/hop.h).
struct MiniBatch {
  std::int64_t num_seeds = 0;
  std::vector<std::int64_t> vertices;
  std::vector<Block> blocks;  ///< from the seeds outwards; the last one belongs to the model's first layer

  std::int64_t num_edges() const {
    std::int64_t edges = 0;
    for (const auto& block : blocks) {
      edges += block.num_edges();
    }
    return edges;
  }
};

}  // namespace gnomon::kernels
