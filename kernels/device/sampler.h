#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device/executor.h"
#include "kernels/device/topology.h"
#include "kernels/sampling_rule.h"

// Also compiled by nvcc as C++17.

namespace gnomon::kernels::device {

/// kernels::Block in device memory. The arrays may have room for more than the block has.
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

/// The open-addressing table from vertices to local ids, in device memory; `keys` and `values` are filled
/// with all ones where there is nothing.
struct IdTable {
  std::int64_t* keys = nullptr;
  std::uint32_t* values = nullptr;
  std::uint64_t mask = 0;  ///< slots - 1, a power of two less 1
};

/// kernels::cpu::Sampler on a device: the same mini-batches, bit for bit, by passes over all vertices and
/// all edges of a hop. One for each stream; its memory is kept from batch to batch.
///
/// Every pass has one index a vertex or an edge, so a hub's edges are spread like any others. Local ids
/// follow from the first edge at which a vertex appears, which is the least of all that name it, whatever
/// the order in which they come.
template <class Executor>
class Sampler {
 public:
  /// `fanouts` as the CPU's sampler takes them; throws base::InputError. What `topology` points to must be
  /// readable by the device and outlive the sampler.
  Sampler(Executor& executor, const Topology& topology, std::vector<int> fanouts);

  /// The mini-batch of `seeds`, which lie in the host's memory. Throws base::InputError for a seed that is
  /// not a vertex or comes twice, and base::Failure for a hop of 2^31 edges or more.
  ///
  /// The host waits for the device once at the end, for the sizes, and once more in a hop whose edges cannot
  /// be bounded closely by its fanout: all neighbours, or many draws for many vertices.
  MiniBatch sample(const BatchKey& key, const std::int64_t* seeds, std::int64_t num_seeds);

 private:
  using Atomics = typename Executor::Atomics;

  void empty_table();
  void forget_last();
  void make_room_for(std::int64_t vertices, std::int32_t hop, std::int64_t most_known, MiniBatch& batch);
  void enter(std::int64_t most_known, std::int32_t hop, const MiniBatch& batch);
  void add_seeds(const std::int64_t* seeds, std::int64_t num_seeds, MiniBatch& batch);
  std::int64_t most_edges(std::int64_t most_destinations, int fanout, const std::int64_t* indptr);
  std::int64_t sample_hop(const BatchKey& key, std::int32_t hop, std::int64_t most_destinations,
                          MiniBatch& batch);
  void number_sources(std::int32_t hop, std::int64_t edges, Block& block, MiniBatch& batch);
  void read_sizes(const std::int64_t* seeds, MiniBatch& batch);
  template <class T>
  void grow_keeping(Array<T>& array, std::int64_t count, std::int32_t hop);
  std::int64_t* first_repeated() const { return sizes_.data + sizes_.count - 1; }

  Executor& executor_;
  Topology topology_;
  std::vector<int> fanouts_;
  /// Of the batch under way: vertices before hop h at h, edges of hop h at hops + 1 + h, and last the first
  /// seed that came before.
  Array<std::int64_t> sizes_;
  Array<std::int64_t> keys_;
  Array<std::uint32_t> values_;
  IdTable table_;
  Array<List> lists_;                ///< of each destination of a hop
  Array<std::uint32_t> slots_;       ///< in the table, of each vertex
  Array<std::uint32_t> edge_slots_;  ///< of each edge of a hop
  Array<std::int64_t> positions_;    ///< that were drawn, of each edge
  Array<double> times_;              ///< for draws by weight, of each edge
  Array<std::int32_t> owners_;       ///< destination of each edge
  Array<std::uint32_t> ranks_;       ///< new vertices before each edge
  std::int64_t vertices_in_table_ = 0;
  bool is_table_known_ = false;  ///< whether the table holds those vertices and no others
};

}  // namespace gnomon::kernels::device
