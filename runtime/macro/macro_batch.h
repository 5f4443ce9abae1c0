#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/huge_array.h"
#include "kernels/cpu/sample/sampler.h"
#include "runtime/macro/local_features.h"
#include "runtime/placement.h"

namespace gnomon::runtime {

/// The arrays of a macro-batch, indexed by local vertex id.
struct MacroArrays {
  std::vector<graph::VertexId> vertices;  ///< the ids in the whole graph
  std::vector<std::int64_t> indptr;
  kernels::cpu::HugeArray<std::uint32_t> indices;
  std::vector<std::int64_t> whole_degrees;
  LocalFeatures features;
  /// Whether each vertex is only a neighbour of the macro-batch's parts; empty if there are none of these.
  std::vector<std::uint8_t> is_halo;
  /// Whether mini-batches use the features of each vertex; empty: all have been gathered.
  std::vector<std::uint8_t> wanted_rows;
};

/// A macro-batch in memory: a graph of its own, from which mini-batches are sampled as from the whole graph.
class MacroBatch {
 public:
  /// Labels and everything else that `arrays` lacks come from `whole`. `train` are the macro-batch's training
  /// vertices, by their ids in the whole graph. `workers`: maximum number of workers that request samplers.
  /// `take_back` receives the arrays when nobody reads them any more, on any thread. Precondition: at most
  /// 2^32 vertices.
  MacroBatch(const graph::Graph& whole, MacroArrays arrays, std::span<const graph::VertexId> train,
             int workers, std::function<void(MacroArrays)> take_back = {});

  /// Replaces the features, of which only the rows of the vertices that `wanted` (empty: all) marks are
  /// defined. Precondition: no other thread reads the macro-batch yet.
  void take_features(LocalFeatures features, std::vector<std::uint8_t> wanted);

  /// The graph in local ids. It shares this object's memory.
  std::shared_ptr<const PlacedGraph> placed() const { return placed_; }
  /// The ids in the whole graph of all local vertices.
  std::span<const graph::VertexId> vertices() const { return arrays_->vertices; }
  std::span<const std::uint8_t> is_halo() const { return arrays_->is_halo; }
  /// Whether the features of each local vertex are defined; empty: all are.
  std::span<const std::uint8_t> wanted_rows() const { return arrays_->wanted_rows; }
  /// The local ids of some of the training vertices that were passed to the constructor.
  std::vector<graph::VertexId> local_seeds(std::span<const graph::VertexId> seeds) const;
  /// Memory of the arrays whose size is proportional to the macro-batch.
  std::int64_t bytes() const;
  /// What each vertex, each edge and each training vertex adds to bytes(), with dense rows.
  struct BytesOfEach {
    std::int64_t vertex = 0, edge = 0, train_vertex = 0;
  };
  static BytesOfEach bytes_of(std::int64_t row_bytes);

  /// The sampler of a worker, made at first use. To be called by that worker's thread only.
  kernels::cpu::Sampler& sampler(int worker, const std::vector<int>& fanouts,
                                 const kernels::cpu::BatchThreads& threads);

 private:
  struct Seed {
    graph::VertexId whole = 0, local = 0;
  };

  std::vector<graph::VertexId> find_seeds(std::span<const graph::VertexId> train);

  std::shared_ptr<MacroArrays> arrays_;
  std::shared_ptr<PlacedGraph> placed_;
  std::vector<Seed> seeds_;                                       ///< by their ids in the whole graph
  std::vector<std::unique_ptr<kernels::cpu::Sampler>> samplers_;  ///< by worker
};

}  // namespace gnomon::runtime
