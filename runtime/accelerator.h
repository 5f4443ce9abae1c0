#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>

#include "base/pcie.h"
#include "base/progress.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/batch_data.h"
#include "runtime/cache_use.h"
#include "runtime/device_batch.h"
#include "runtime/device_options.h"
#include "runtime/placement.h"

namespace gnomon::runtime {

/// A GPU's facts, as far as a profile tells them.
struct AcceleratorFacts {
  std::string name;
  double memory_bytes = 0;                  ///< that training may use
  double memory_bandwidth_bytes_per_s = 0;  ///< of a copy within it, read and written bytes together
  double link_bandwidth_bytes_per_s = 0;    ///< of a copy from pinned host memory
  double link_saturation_share = 0;  ///< of its multiprocessors that gathering at the link's full speed
                                     ///< needs; 0: the features are not in the host's memory
  int multiprocessors = 0;
  base::PcieLink link;
  double peak_bytes = 0;  ///< of its memory, that anything took so far
};

/// The device's side of the stages, where the device is not the host itself: memory of its own, and work that
/// is started there. Every function returns when its work is done, so that a stage's span is the time that
/// it took. They may be called side by side, each by one thread at a time. All throw base::Failure when the
/// device fails or its memory does not suffice (with the bytes that are missing and the plan's fields that
/// lower the need).
class Accelerator {
 public:
  Accelerator() = default;
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;
  virtual ~Accelerator() = default;

  virtual c10::Device device() const = 0;
  /// Where host slots lie so that copies from them need no other (pinned memory).
  virtual std::pmr::memory_resource* host_memory() = 0;

  /// Goes on by another resolved plan of the same homes of data; a cache is filled anew when it changes.
  virtual void take_plan(const plan::Plan& plan) = 0;
  /// The transfer stage. A batch without features takes its vertices' ids along, for gather().
  virtual DeviceBatch copy(const BatchData& data) = 0;
  /// The device_batch stage: runtime/batch_data.h's prepare_batch, bit for bit; where plan.fused without
  /// features, whose vertices' ids are kept instead.
  virtual DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) = 0;
  /// The device_batch stage where the trainer gathers: sample_batch (runtime/batch_data.h), bit for bit.
  virtual void sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                      BatchData& data) = 0;
  /// The device_gather stage: the features of a batch that was copied without them.
  virtual void gather(DeviceBatch& batch) = 0;
  /// Instead, where plan.fused: lets the batch's first layer read the features where they lie, until the next
  /// train() is over.
  virtual void lend_features(DeviceBatch& batch) = 0;
  /// The train stage: calls `learn`, whose tensors' operations run on the device's training stream.
  virtual void train(const std::function<void()>& learn) = 0;

  /// What its caches answered since the last call, or since they were filled.
  virtual CacheUse take_cache_use() = 0;

  virtual AcceleratorFacts measure() = 0;
};

/// Where tensors lie that are trained there.
inline c10::Device device_of(const DeviceOptions& options) {
  return options.gpu ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU);
}

/// The GPU, with the graph's data where the plan wants it; `placed` must outlive it. `progress` is told how
/// far caches are filled. Throws base::InputError when there is none.
std::unique_ptr<Accelerator> open_gpu(const PlacedGraph& placed, const plan::Job& job, const plan::Plan& plan,
                                      const DeviceOptions& options, const base::Progress& progress);

}  // namespace gnomon::runtime
