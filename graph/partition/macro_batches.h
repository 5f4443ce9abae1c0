#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "graph/partition/partition.h"

namespace gnomon::graph {

/// The parts of each macro-batch.
using MacroBatches = std::vector<std::vector<std::int32_t>>;

/// Returns the macro-batches of an epoch: all parts, in a random order keyed by seed and epoch, `resident` at
/// a time; the last macro-batch has the remaining parts. Precondition: 1 <= resident <= parts.
MacroBatches macro_batches(int parts, int resident, std::uint64_t seed, std::uint64_t epoch);

/// The data that is read for a macro-batch, and the part of its edges that is in memory.
struct WorkingSet {
  std::int64_t parts = 0;
  std::int64_t vertices = 0;      ///< of its parts, which are read whole
  std::int64_t bytes = 0;         ///< their row pointers, adjacency lists and features as stored
  std::int64_t train = 0;         ///< training vertices
  std::int64_t edges = 0;         ///< to its vertices
  std::int64_t edges_within = 0;  ///< of these, those from vertices of its parts and from hubs

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("parts", self.parts);
    f("vertices", self.vertices);
    f("bytes", self.bytes);
    f("train", self.train);
    f("edges", self.edges);
    f("edges_within", self.edges_within);
  }
};

/// Returns the working set of each macro-batch. `hubs` are always resident. Reads all edges once, in
/// sequence. Precondition: each part of `part_of` is in exactly one macro-batch.
std::vector<WorkingSet> working_sets(const Graph& graph, const PartOf& part_of,
                                     const MacroBatches& macro_batches, std::span<const VertexId> hubs,
                                     const base::Progress& progress = {});

}  // namespace gnomon::graph
