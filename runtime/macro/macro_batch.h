#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/huge_array.h"
#include "kernels/cpu/sample/sampler.h"
#include "runtime/macro/local_features.h"
#include "runtime/placement.h"

namespace gnomon::runtime {

/// The arrays of a macro-batch. Vertices have local ids, from 0 on.
struct MacroArrays {
  std::vector<graph::VertexId> vertices;  ///< the id in the whole graph of each
  std::vector<std::int64_t> indptr;
  kernels::cpu::HugeArray<std::uint32_t> indices;
  std::vector<std::int64_t> whole_degrees;
  LocalFeatures features;
  /// Of each vertex whether it is only a neighbour of the macro-batch's parts; empty if none is.
  std::vector<std::uint8_t> is_halo;
};

/// A macro-batch in memory: a graph of its own, from which mini-batches are drawn as from a whole one.
class MacroBatch {
 public:
  /// Labels, training vertices and what else `arrays` lack come from `whole`. `train` are training vertices
  /// of the macro-batch, by their ids in the whole graph. Precondition: at most 2^32 vertices.
  /// At most `workers` workers ask for samplers.
  MacroBatch(const graph::Graph& whole, MacroArrays arrays, std::span<const graph::VertexId> train,
             int workers);

  /// Replaces the features. Nobody reads the macro-batch yet.
  void take_features(LocalFeatures features);

  /// The graph in local ids. It shares this object's memory.
  std::shared_ptr<const PlacedGraph> placed() const { return placed_; }
  /// The ids in the whole graph of all local vertices.
  std::span<const graph::VertexId> vertices() const { return arrays_->vertices; }
  std::span<const std::uint8_t> is_halo() const { return arrays_->is_halo; }
  /// The local ids of training vertices that the macro-batch was made with.
  std::vector<graph::VertexId> local_seeds(std::span<const graph::VertexId> seeds) const;
  /// The memory of the arrays that grow with the macro-batch.
  std::int64_t bytes() const;

  /// The sampler of a worker, made at first use. To be called by that worker's thread only.
  kernels::cpu::Sampler& sampler(int worker, const std::vector<int>& fanouts,
                                 const kernels::cpu::BatchThreads& threads);

 private:
  struct Seed {
    graph::VertexId whole = 0, local = 0;
  };

  std::shared_ptr<MacroArrays> arrays_;
  std::shared_ptr<PlacedGraph> placed_;
  std::vector<Seed> seeds_;                                       ///< by their ids in the whole graph
  std::vector<std::unique_ptr<kernels::cpu::Sampler>> samplers_;  ///< by worker
};

}  // namespace gnomon::runtime
