#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/block.h"
#include "kernels/cpu/sample/id_table.h"
#include "kernels/cpu/sample/topology.h"

namespace gnomon::c_api {

/// The edges of a batch in the order of its hops.
struct EdgeList {
  std::int64_t* sources = nullptr;  ///< local ids
  std::int64_t* destinations = nullptr;
  std::int64_t* edges = nullptr;  ///< positions in the graph's indices
};

/// Writes all sampled edges of the batch. `expands_every_hop`: each block's destinations begin at vertex 0;
/// otherwise they begin where the previous block's destinations end.
void write_edges(const kernels::MiniBatch& batch, bool expands_every_hop, const EdgeList& out);

/// All edges between the vertices of a batch.
struct InducedEdges {
  std::vector<std::int64_t> sources;  ///< local ids
  std::vector<std::int64_t> destinations;
  std::vector<std::int64_t> edges;  ///< positions in the graph's indices
};

/// Finds the induced edges, grouped by destination, each group in the graph's order. A repeated vertex counts
/// at its first position.
void find_induced(const kernels::cpu::Topology& topology, std::span<const std::int64_t> vertices,
                  kernels::cpu::IdTable& table, InducedEdges& induced);

/// The subgraphs of several seeds side by side. Hop h of the result is hop h of every tree.
class Forest {
 public:
  /// Starts a batch of these seeds.
  void begin(std::span<const std::int64_t> seeds, std::size_t num_hops);
  /// Adds the batch of the next seed. Precondition: it was sampled with Expansion::once.
  void add(const kernels::MiniBatch& tree);
  /// Writes the whole batch, in the form of Expansion::once, and the position of each vertex's seed.
  void finish(kernels::MiniBatch& batch, std::vector<std::int64_t>& trees) const;

 private:
  std::vector<std::int64_t> seeds_;
  std::vector<kernels::MiniBatch> trees_;
  std::size_t num_trees_ = 0;
  std::size_t num_hops_ = 0;
};

}  // namespace gnomon::c_api
