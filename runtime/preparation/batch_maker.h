#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "kernels/device/executor_concept.h"
#include "kernels/device/gather.h"
#include "kernels/device/sampler.h"
#include "runtime/batch/batch_data.h"
#include "runtime/batch/device_batch.h"
#include "runtime/cache/cache_use.h"
#include "runtime/preparation/device_graph.h"
#include "runtime/reuse/hot_set.h"

namespace gnomon::runtime {

/// Prepares mini-batches on a device: samples, and gathers features, labels and degrees. The batches equal
/// those of prepare_batch (runtime/batch/batch_data.h) bit for bit, independent of the caches' content. Bound
/// to one stream and one state of the caches: after fill_cache() or drop_cache() a new one must be
/// constructed.
///
/// The host synchronises once, for the sampler (kernels/device/sampler.h). Features are gathered before that,
/// unless the batch is larger than all earlier ones. Results are ready for the executor's next work. A
/// batch's arrays are freed with its tensors.
template <class Executor>
class BatchMaker {
  static_assert(kernels::device::Executor<Executor>);

 public:
  /// `device` is where the executor's memory lies. `executor` and `graph` must outlive it. Batches are made
  /// without degrees if `with_degrees` is false. Seeds are uploaded from `staging`, which must outlive it,
  /// too.
  BatchMaker(Executor& executor, const DeviceGraph& graph, const std::vector<int>& fanouts,
             kernels::device::Reads reads, at::Device device, bool with_degrees = true,
             std::pmr::memory_resource* staging = std::pmr::new_delete_resource());

  /// The batch keeps its vertices' ids if asked.
  DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                      bool keeps_vertices = false);
  /// prepare() without features; the batch keeps its vertices' ids.
  DeviceBatch prepare_sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds);
  /// The batch of PrunedSampler (runtime/reuse/pruned_sampler.h), bit for bit. The host reads back the
  /// destinations of the first layer and decides which are computed.
  DeviceBatch prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                             const HotVertices& hot);
  /// prepare_sample() into host memory: the batch of sample_batch (runtime/batch/batch_data.h), bit for bit.
  /// The host waits for the copies.
  void sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds, BatchData& data);

  /// The features of `count` vertices, whose ids are on the device.
  at::Tensor gather(const std::int64_t* vertices, std::int64_t count);
  /// Returns where the features of these vertices are stored, and counts a read of each. Valid until the
  /// caches change.
  kernels::device::Rows lend_rows(const std::int64_t* vertices, std::int64_t count);

  /// The use of the caches since the last call; zeros without caches. Synchronises with all earlier work.
  CacheUse take_cache_use();

  kernels::device::Sampler<Executor>& sampler() { return sampler_; }

 private:
  template <class T>
  using Array = kernels::device::Array<T>;

  const graph::VertexId* staged(std::span<const graph::VertexId> seeds);
  kernels::device::MiniBatch draw(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds);
  kernels::device::MiniBatch draw_by(kernels::device::Sampler<Executor>& sampler,
                                     const kernels::BatchKey& key, std::span<const graph::VertexId> seeds);
  at::Tensor degrees_of(const kernels::device::MiniBatch& batch);
  Array<std::byte> rows_of(const std::int64_t* vertices, std::int64_t count, const std::int64_t* known);
  at::Tensor features_on(const Array<std::byte>& rows, std::int64_t count);
  DeviceBatch without_features(const kernels::device::MiniBatch& sampled);
  kernels::device::CacheReads list_reads(const kernels::device::Sampler<Executor>& sampler,
                                         const kernels::device::MiniBatch& batch);
  kernels::device::CacheReads with_rows(kernels::device::CacheReads reads, std::int64_t count);
  void count(const kernels::device::CacheReads& reads);
  template <class T>
  void download(const Array<T>& from, std::int64_t count, std::vector<T>& to);

  Executor& executor_;
  const DeviceGraph& graph_;
  kernels::device::Reads reads_;
  at::Device device_;
  bool with_degrees_;
  kernels::device::Sampler<Executor> sampler_;
  /// Samplers of all hops but the last, and of the last one, for batches that reuse rows; created on first
  /// use.
  std::optional<kernels::device::Sampler<Executor>> upper_, bottom_;
  std::vector<int> fanouts_;
  AlignedBytes staged_seeds_;               ///< of the batch that is sampled
  std::int64_t rows_ = 0, lists_ = 0;       ///< reads since take_cache_use(), where there is such a cache
  Array<kernels::device::CacheHits> hits_;  ///< since then; empty without caches
};

}  // namespace gnomon::runtime
