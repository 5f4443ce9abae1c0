#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/cpu/sample/sampler.h"
#include "nn/models.h"
#include "nn/reused_rows.h"
#include "plan/job.h"
#include "runtime/batch/batch_data.h"
#include "runtime/placement.h"
#include "runtime/reuse/hot_set.h"

namespace gnomon::runtime {

/// The reusable state of a CPU worker that refreshes rows.
struct RefreshTools {
  RefreshTools(const kernels::cpu::Topology& topology, const plan::Job& job,
               const kernels::cpu::BatchThreads& threads);

  kernels::cpu::Sampler upper;    ///< all hops of a mini-batch but the last
  kernels::cpu::Sampler one_hop;  ///< the last hop's fanout
  kernels::MiniBatch sampled;
  BatchData data;
  int threads;
};

/// The input of a refresh, which computes the first layer's rows of the hot vertices that a super-batch uses.
struct RefreshRequest {
  const graph::Graph* graph = nullptr;
  const plan::Job* job = nullptr;
  const nn::Model* model = nullptr;
  const HotSet* set = nullptr;
  std::uint32_t hot = 0;  ///< how many of the set are hot
  std::int64_t epoch = 0;
  std::int64_t super_batch = 0;          ///< of the epoch
  std::vector<std::int64_t> batches;     ///< that it trains
  std::vector<at::Tensor> parameters{};  ///< of the first layer, on the CPU
};

/// Computes on the CPU the rows of the hot vertices that a super-batch uses, with any number of workers, each
/// of which calls work() once. The rows are a pure function of the request: each vertex's neighbours are
/// sampled once, keyed by seed, epoch, super-batch and vertex, with the last hop's fanout, and dropout is
/// applied to the sampled features.
class Refresh {
 public:
  /// The objects that the request refers to must outlive it. `seeds` are those of the whole epoch, in order.
  Refresh(RefreshRequest request, std::vector<graph::VertexId> seeds);

  /// Performs a share of the work that no other worker has claimed. Waits for other workers only between
  /// finding the vertices and computing their rows. An exception releases all waiting workers.
  void work(RefreshTools& tools);
  /// Whether all rows are computed.
  bool is_done() const { return chunks_done_ == num_chunks_; }

  /// The rows, once all calls of work() have returned.
  nn::ReusedRows take_rows();
  /// The row of each rank; -1 if there is none. Valid as long as the object.
  const std::vector<std::int32_t>& rows_of_ranks() const { return rows_of_ranks_; }
  std::int64_t num_rows() const { return std::ssize(vertices_); }

 private:
  void find(RefreshTools& tools, std::size_t batch);
  void end_finding();
  void await_vertices();
  void compute(RefreshTools& tools, std::int64_t chunk);
  void store(const nn::ReusedRows& rows, std::int64_t chunk);

  RefreshRequest request_;
  std::vector<graph::VertexId> seeds_;
  std::vector<std::uint8_t> is_used_;  ///< by rank
  std::vector<std::int32_t> rows_of_ranks_;
  std::vector<graph::VertexId> vertices_;  ///< that are used, by rank
  std::atomic<std::size_t> next_batch_ = 0;
  std::atomic<std::int64_t> next_chunk_ = 0, chunks_done_ = 0, num_chunks_ = -1;
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable found_;
  std::size_t batches_done_ = 0;
  bool failed_ = false;
  at::Tensor outputs_;
  std::vector<at::Tensor> dense_;                        ///< by operand
  std::vector<std::vector<nn::SparseFeatures>> sparse_;  ///< by operand and chunk
};

}  // namespace gnomon::runtime
