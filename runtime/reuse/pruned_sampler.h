#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/sample/sampler.h"
#include "plan/job.h"
#include "runtime/batch/batch_data.h"
#include "runtime/reuse/hot_set.h"

namespace gnomon::runtime {

/// Additional data of a mini-batch that reuses rows of the first layer, on the device of its tensors.
struct SplitBottom {
  at::Tensor order;                     ///< nn::ReusedBottom::order; undefined if none is reused
  at::Tensor degrees;                   ///< nn::ReusedBottom::degrees
  std::vector<graph::VertexId> reused;  ///< in host memory
  std::int64_t feature_bytes = 0;       ///< gathered
};

/// Samples mini-batches that reuse rows, on the host: all hops but the last from the seeds, and the last hop
/// only for destinations that are computed. Without reused destinations, the result equals that of
/// kernels::cpu::Sampler, bit for bit.
class PrunedSampler {
 public:
  /// Precondition: the job has at least two layers.
  PrunedSampler(const kernels::cpu::Topology& topology, const plan::Job& job,
                const kernels::cpu::BatchThreads& threads);

  /// prepare_batch (runtime/batch/batch_data.h) with the vertices and the degrees of the last block's
  /// sources.
  std::shared_ptr<const SplitBottom> prepare(const graph::Graph& graph, const kernels::BatchKey& key,
                                             std::span<const graph::VertexId> seeds, const HotVertices& hot,
                                             BatchData& data);

 private:
  kernels::cpu::Sampler upper_;
  kernels::cpu::Sampler bottom_;
  kernels::MiniBatch below_;
};

/// The hops of all layers but the first, from the seeds outwards.
std::vector<int> upper_fanouts(const plan::Job& job);

}  // namespace gnomon::runtime
