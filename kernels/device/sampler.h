#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device/executor.h"
#include "kernels/device/topology.h"
#include "kernels/sampling_rule.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// kernels::Block in device memory. The arrays may be larger than the block.
struct Block {
  std::int64_t num_destinations = 0;
  std::int64_t num_sources = 0;
  std::int64_t num_edges = 0;
  Array<std::int64_t> indptr;   ///< num_destinations + 1
  Array<std::int32_t> indices;  ///< num_edges
};

/// kernels::MiniBatch in device memory.
struct MiniBatch {
  std::int64_t num_seeds = 0;
  std::int64_t num_vertices = 0;
  Array<std::int64_t> vertices;
  std::vector<Block> blocks;  ///< from the seeds outwards
};

/// An open-addressing hash table from vertices to local ids, in device memory. In an empty slot, all bits of
/// key and value are set.
struct IdTable {
  std::int64_t* keys = nullptr;
  std::uint32_t* values = nullptr;
  std::uint64_t mask = 0;  ///< number of slots - 1; the number is a power of two
};

/// kernels::cpu::Sampler on a device: the same mini-batches, bit for bit, computed by passes over all
/// vertices and all edges of a hop. One sampler serves one stream and reuses its memory for all batches.
///
/// Every pass has one index per vertex or edge, so that high-degree vertices are balanced. A vertex's local
/// id is determined by the first edge at which it appears, that is, by the minimum over its edges, which does
/// not depend on the order of execution.
template <class Executor>
class Sampler {
 public:
  /// `fanouts` are as in kernels::cpu::Sampler; throws base::InputError if they are invalid. Hops are
  /// numbered from `first_hop` on, by which draws are keyed. The memory behind `topology` must be readable by
  /// the device and outlive the sampler.
  Sampler(Executor& executor, const Topology& topology, std::vector<int> fanouts,
          std::uint32_t first_hop = 0);

  /// Samples the mini-batch of `seeds`, which are in host memory. Throws base::InputError for a seed that is
  /// not a vertex or is repeated, and base::Failure for a hop of 2^31 edges or more.
  ///
  /// The host synchronises with the device once at the end, to read the sizes, and once more in every hop
  /// whose number of edges has no tight bound: with all neighbours, or with very many draws.
  MiniBatch sample(const BatchKey& key, const std::int64_t* seeds, std::int64_t num_seeds);

 private:
  using Atomics = typename Executor::Atomics;

  void empty_table();
  void clear_last_batch();
  void reserve_vertices(std::int64_t vertices, std::int32_t hop, std::int64_t max_known, MiniBatch& batch);
  void insert_vertices(std::int64_t max_known, std::int32_t hop, const MiniBatch& batch);
  void add_seeds(const std::int64_t* seeds, std::int64_t num_seeds, MiniBatch& batch);
  std::int64_t max_edges(std::int64_t max_destinations, int fanout, const std::int64_t* indptr);
  std::int64_t sample_hop(const BatchKey& key, std::int32_t hop, std::int64_t max_destinations,
                          MiniBatch& batch);
  void assign_local_ids(std::int32_t hop, std::int64_t edges, Block& block, MiniBatch& batch);
  void read_sizes(const std::int64_t* seeds, MiniBatch& batch);
  template <class T>
  void grow_preserving(Array<T>& array, std::int64_t count, std::int32_t hop);
  std::int64_t* first_repeated() const { return sizes_.data + sizes_.count - 1; }

  Executor& executor_;
  Topology topology_;
  std::vector<int> fanouts_;
  std::uint32_t first_hop_;
  /// Sizes of the current batch: element h is the number of vertices before hop h, element hops + 1 + h the
  /// number of edges of hop h, and the last element the position of the first repeated seed.
  Array<std::int64_t> sizes_;
  Array<std::int64_t> keys_;
  Array<std::uint32_t> values_;
  IdTable table_;
  Array<List> lists_;                ///< the neighbour list of each destination of a hop
  Array<std::uint32_t> slots_;       ///< the slot of each vertex in the table
  Array<std::uint32_t> edge_slots_;  ///< the slot of each edge's neighbour in the table
  Array<std::int64_t> positions_;    ///< the drawn position of each edge
  Array<double> keys_of_draws_;      ///< scratch space of weighted draws, one per edge
  Array<std::int32_t> owners_;       ///< the destination of each edge
  Array<std::uint32_t> ranks_;       ///< the number of new vertices before each edge
  std::int64_t vertices_in_table_ = 0;
  bool is_table_known_ = false;  ///< whether the table holds exactly the last batch's vertices
};

}  // namespace gnomon::kernels::device
