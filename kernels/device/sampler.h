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
  Array<std::int64_t> labels;  ///< of the seeds, if they were asked for
  std::vector<Block> blocks;   ///< from the seeds outwards; their indices lie in one array
};

/// A slot of IdTable. Key and value share a sector of memory, so that finding both is one access.
struct alignas(16) IdSlot {
  std::int64_t key;
  std::uint32_t value;
  std::uint32_t unused;
};

/// An open-addressing hash table from vertices to local ids, in device memory. In an empty slot, all bits are
/// set.
struct IdTable {
  IdSlot* slots = nullptr;
  std::uint64_t mask = 0;  ///< number of slots - 1; the number is a power of two
};

/// Long lists whose weighted draws are completed by reservoir sampling (weighted_rule.h) after rejected
/// attempts, in device memory: `lanes` threads share the scan of each. The assignment of lists to places is
/// arbitrary.
struct LongDraws {
  static constexpr std::int64_t min_degree = 4096;  ///< a shorter list is read by one thread
  /// Scanned by several threads; further lists are scanned by one thread each.
  static constexpr std::int64_t max_lists = 16;

  std::int64_t* destinations = nullptr;  ///< max_lists; -1 for a free place
  std::int64_t* drawn = nullptr;         ///< max_lists: the positions that the attempts have drawn
  std::int64_t lanes = 0;
  std::int64_t capacity = 0;          ///< of a lane's sample
  std::int64_t* sizes = nullptr;      ///< max_lists x lanes
  std::int64_t* positions = nullptr;  ///< max_lists x lanes x capacity, by ascending key
  double* keys = nullptr;             ///< of the positions
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

  /// Samples the mini-batch of `seeds`, which are in host memory, and reads their labels in `labels` (of all
  /// vertices, in device memory) unless it is null. Throws base::InputError for a seed that is
  /// not a vertex or is repeated, and base::Failure for a hop of 2^31 edges or more.
  ///
  /// The host synchronises with the device once, to read the sizes, and once more in every hop whose number
  /// of edges has no tight bound: with all neighbours, or with very many draws. The batch's arrays, which are
  /// written last, are allocated for slightly more vertices and edges than the largest batch so far. If that
  /// does not suffice, the writing is launched again.
  MiniBatch sample(const BatchKey& key, const std::int64_t* seeds, std::int64_t num_seeds,
                   const std::int32_t* labels = nullptr);

  /// sample() in two halves, between which further kernels that read the batch's vertices can be launched;
  /// finish() waits for the sizes, not for those kernels. `seeds` must live until then.
  void start(const BatchKey& key, const std::int64_t* seeds, std::int64_t num_seeds,
             const std::int32_t* labels = nullptr);
  MiniBatch finish();
  /// Between the two: the vertices and their number, in device memory, and the maximum number of vertices
  /// unless the batch is larger than expected; 0 if unknown.
  const std::int64_t* vertices() const { return vertices_.data; }
  const std::int64_t* num_vertices() const { return sizes_.data + fanouts_.size(); }
  /// Of each hop of the last batch (device memory), in the order of its blocks.
  const std::int64_t* num_destinations() const { return sizes_.data; }
  std::int64_t expected_vertices() const { return room_.vertices; }

 private:
  using Atomics = typename Executor::Atomics;

  void empty_table();
  void clear_last_batch();
  void reserve_vertices(std::int64_t vertices, std::int32_t hop, std::int64_t max_known);
  void insert_vertices(std::int64_t max_known, std::int32_t hop);
  void add_seeds(const std::int64_t* seeds, std::int64_t num_seeds, MiniBatch& batch);
  std::int64_t max_edges(std::int64_t max_destinations, int fanout, const std::int64_t* indptr);
  std::int64_t sample_hop(const BatchKey& key, std::int32_t hop, std::int64_t max_destinations,
                          MiniBatch& batch);
  LongDraws long_draws(int fanout);
  void finish_long_draws(const BatchKey& key, std::uint32_t hop, const std::int64_t* indptr,
                         const LongDraws& draws);
  void assign_local_ids(std::int32_t hop, std::int64_t edges, const Block& block);
  void read_sizes(MiniBatch& batch);
  bool fits(const MiniBatch& batch) const;
  void make_room(const MiniBatch& batch);
  void write_batch(MiniBatch& batch);
  template <class T>
  void grow_preserving(Array<T>& array, std::int64_t count, std::int32_t hop);
  std::int64_t* num_edges(std::int32_t hop) const {
    return sizes_.data + fanouts_.size() + 1 + static_cast<std::size_t>(hop);
  }
  std::int64_t* first_repeated() const { return sizes_.data + sizes_.count - 1; }
  std::size_t size_bytes() const { return static_cast<std::size_t>(sizes_.count) * sizeof(std::int64_t); }

  /// Sizes of a batch.
  struct Room {
    std::int64_t vertices = 0;
    std::vector<std::int64_t> edges;  ///< by hop; empty if nothing is known
  };
  /// The batch between start() and finish().
  struct Started {
    const std::int64_t* seeds = nullptr;
    const std::int32_t* labels = nullptr;
    MiniBatch batch;
  };

  Executor& executor_;
  Topology topology_;
  std::vector<int> fanouts_;
  std::uint32_t first_hop_;
  /// Sizes of the current batch: element h is the number of vertices before hop h, element hops + 1 + h the
  /// number of edges of hop h, and the last element the position of the first repeated seed.
  Array<std::int64_t> sizes_;
  Array<IdSlot> table_slots_;
  IdTable table_;
  Array<std::int64_t> vertices_;    ///< of the current batch; the batch gets a copy of its exact size
  Array<List> lists_;               ///< the neighbour list of each destination of a hop
  Array<std::uint32_t> slots_;      ///< the slot of each vertex in the table
  Array<std::int64_t> positions_;   ///< the drawn position of each edge
  Array<double> keys_of_draws_;     ///< scratch space of weighted draws, one per edge
  Array<std::int64_t> long_draws_;  ///< the integers of LongDraws
  Array<double> keys_of_lanes_;
  Array<std::int32_t> owners_;                    ///< the destination of each edge
  std::vector<Array<std::uint32_t>> edge_slots_;  ///< by hop: the slot of each edge's neighbour in the table
  Room room_;                                     ///< expected capacity
  Started started_;
  std::int64_t vertices_in_table_ = 0;
  bool is_table_known_ = false;  ///< whether the table holds exactly the last batch's vertices
};

}  // namespace gnomon::kernels::device
