#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "kernels/device/gather.h"
#include "kernels/device/sampler.h"
#include "runtime/batch_data.h"
#include "runtime/cache_choice.h"
#include "runtime/cache_use.h"
#include "runtime/device_batch.h"

namespace gnomon::runtime {

/// A graph in memory that a device reads: its own, or the host's over the link.
struct DeviceGraph {
  kernels::device::Topology topology;
  kernels::device::Rows rows;
  const std::int32_t* labels = nullptr;
  graph::FeatureType feature_type = graph::FeatureType::fp32;
  std::int64_t columns = 0;
  std::vector<std::shared_ptr<const void>> owners;
};

/// Makes whole mini-batches on a device: samples, gathers features, labels and degrees. What it makes is bit
/// for bit prepare_batch's (runtime/batch_data.h), whatever its caches hold. For one stream.
template <class Executor>
class BatchMaker {
 public:
  /// The tensors are of `device`, where the executor's memory lies.
  BatchMaker(Executor& executor, DeviceGraph graph, const std::vector<int>& fanouts,
             kernels::device::Reads reads, at::Device device);

  /// The host waits for the sampler only (kernels/device/sampler.h); the gathers are under way.
  DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds);

  /// The same without features; the batch keeps its vertices' ids.
  DeviceBatch prepare_sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds);
  /// Where the features of `count` vertices lie, whose ids lie on the device; reads of them are counted.
  /// Valid until the cache is filled anew.
  kernels::device::Rows lend_rows(const std::int64_t* vertices, std::int64_t count);

  /// prepare() in two halves: the sample, left in the host's memory without features (runtime/batch_data.h's
  /// sample_batch, bit for bit), and the features of `count` vertices, whose ids lie on the device.
  void sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds, BatchData& data);
  at::Tensor gather(const std::int64_t* vertices, std::int64_t count);

  /// Samples without gathering, and counts what the batch uses.
  void visit(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds);
  /// What visit() has counted since the last call.
  Visits take_visits();

  /// Copies rows and lists into the device's memory, from where they are read from now on; what was cached
  /// before is given back first. `host` is the graph's structure.
  void fill_cache(const graph::Graph& host, const CacheContent& content, const base::Progress& progress);

  /// Since the last call, or since the cache was filled; zeros where there is none. The host waits for all
  /// that was started.
  CacheUse take_cache_use();

 private:
  template <class T>
  using Array = kernels::device::Array<T>;

  Array<std::int64_t> on_device(std::span<const std::int64_t> values);
  Array<std::int32_t> slots_of(std::span<const graph::VertexId> vertices);
  void cache_rows(const std::vector<graph::VertexId>& vertices, const base::Progress& progress);
  void cache_lists(const graph::Graph& host, const std::vector<graph::VertexId>& vertices);
  void start_sampler();
  kernels::device::MiniBatch draw(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds);
  Array<std::int64_t> labels_of(const kernels::device::MiniBatch& batch);
  Array<float> degrees_of(const kernels::device::MiniBatch& batch);
  DeviceBatch without_features(const kernels::device::MiniBatch& sampled);
  void count_rows(const std::int64_t* vertices, std::int64_t count);
  template <class T>
  void download(const Array<T>& from, std::int64_t count, std::vector<T>& to);

  Executor& executor_;
  DeviceGraph graph_;
  std::vector<int> fanouts_;
  kernels::device::Reads reads_;
  at::Device device_;
  std::unique_ptr<kernels::device::Sampler<Executor>> sampler_;  ///< reads the lists that are cached now
  std::vector<std::shared_ptr<const void>> cache_memory_;
  Array<std::uint32_t> row_visits_, list_visits_;
  Array<std::int64_t> use_;  ///< the four numbers of a CacheUse
};

}  // namespace gnomon::runtime
