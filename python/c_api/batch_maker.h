#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/team.h"
#include "kernels/block.h"
#include "kernels/cpu/sample/id_table.h"
#include "kernels/cpu/sample/sampler.h"
#include "python/c_api/cache_hits.h"
#include "python/c_api/edges.h"
#include "python/c_api/graph_data.h"
#include "python/c_api/sampling.h"
#include "python/c_api/seeds.h"
#include "python/c_api/tensors.h"

namespace gnomon::c_api {

/// A prepared mini-batch, which owns the memory that gnomon_batch points to.
struct Batch {
  Tensor vertices, edges, edge_ids, trees, endpoints;
  Tensor gathered_positions, cached_positions, cached_slots;
  std::vector<Tensor> vertex_attributes, edge_attributes;
  std::vector<std::int64_t> num_sampled_nodes, num_sampled_edges;
  std::int64_t num_seeds = 0;
  double sample_s = 0;
  double gather_s = 0;
};

/// The data to gather: arrays over vertices and over edges, and the features of a store.
struct Attributes {
  std::span<const gnomon_dl_tensor> vertices, edges;
  const graph::Features* features = nullptr;  ///< of the store: the first vertex attribute; null: none
  std::span<const std::int32_t> cache_slots;  ///< of the first attribute, by vertex; empty: no cache
};

/// Prepares mini-batches on the calling thread, reusing memory between batches. Not thread-safe.
class BatchMaker {
 public:
  /// `sampling_threads` sample each batch and `threads` gather it; the first of their cores is that of the
  /// calling thread. Either may be the caller's thread alone.
  BatchMaker(std::shared_ptr<const GraphData> graph, Sampling sampling, std::shared_ptr<MemoryPool> pool,
             const kernels::cpu::BatchThreads& sampling_threads, const kernels::cpu::BatchThreads& threads);
  const std::vector<int>& cores() const { return cores_; }

  /// Throws InputError for a seed that is not a vertex.
  Batch of_vertices(const kernels::BatchKey& key, std::span<const std::int64_t> seeds,
                    const Attributes& attributes);
  /// Prepares the batch of the links' endpoints, which are sorted if they share one subgraph.
  Batch of_links(const kernels::BatchKey& key, const Links& links, const Attributes& attributes);

 private:
  void sample(const kernels::BatchKey& key, std::span<const std::int64_t> seeds);
  /// Samples for the vertices of distinct_.
  void sample_distinct(const kernels::BatchKey& key);
  /// Returns the batch of sampled_, whose preparation began at `begin`.
  Batch finished(std::chrono::steady_clock::time_point begin, const Attributes& attributes);
  void sample_trees(const kernels::BatchKey& key, std::span<const std::int64_t> seeds);
  void add_sampled_edges(Batch& batch) const;
  void add_induced_edges(Batch& batch);
  void gather(Batch& batch, const Attributes& attributes);
  base::Team& team() { return own_team_ ? *own_team_ : sampler_.team(); }
  Tensor gathered(const gnomon_dl_tensor& rows, std::span<const std::int64_t> ids);
  Tensor gathered(const graph::Features& features, std::span<const std::int64_t> vertices);
  Tensor copied(std::span<const std::int64_t> values) const;

  std::shared_ptr<const GraphData> graph_;
  Sampling sampling_;
  std::shared_ptr<MemoryPool> pool_;
  std::vector<int> cores_;
  kernels::cpu::Sampler sampler_;
  std::optional<base::Team> own_team_;  ///< if it is not the sampler's
  kernels::cpu::IdTable table_;
  DistinctSeeds distinct_;
  SeedSort seed_sort_;
  Forest forest_;
  kernels::MiniBatch sampled_;
  std::vector<std::int64_t> trees_;
  InducedEdges induced_;
  CacheHits hits_;
};

}  // namespace gnomon::c_api
