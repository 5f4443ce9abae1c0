#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/pcie.h"
#include "base/progress.h"
#include "graph/graph.h"
#include "kernels/sampling_rule.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/batch/batch_data.h"
#include "runtime/batch/device_batch.h"
#include "runtime/batch/slot_pool.h"
#include "runtime/cache/cache_use.h"
#include "runtime/device_options.h"
#include "runtime/placement.h"
#include "runtime/reuse/hot_set.h"

namespace gnomon::runtime {

/// Facts about a device for a profile. A value that the device does not have, or that could not be measured,
/// is missing.
struct DeviceFacts {
  std::string name;
  double memory_bytes = 0;  ///< that training may use
  double peak_bytes = 0;    ///< allocated at the same time so far; 0 for a device in the host's memory
  /// Of a copy within its memory, bytes read and bytes written together.
  std::optional<double> memory_bandwidth_bytes_per_s{};
  /// Of a copy from the slots' memory to the device's memory.
  std::optional<double> link_bandwidth_bytes_per_s{};
  /// Share of its multiprocessors that a gather needs to reach the link's bandwidth.
  std::optional<double> link_saturation_share{};
  std::optional<int> multiprocessors{};
  base::PcieLink link{};
};

/// What executes the device's stages of a plan. Implementations: runtime/host/host_device.h (threads of the
/// same machine), runtime/emulated/emulated_device.h (a device behind a link, emulated there) and
/// runtime/streams/stream_device.h (a GPU); open_device() chooses one.
///
/// Synchronisation: functions return only after their work is done, on the host and on the device, so that
/// the duration of the call is the duration of the stage; but prepare(), prepare_pruned() and gather() leave
/// in DeviceBatch::work, and sample() and train() return, what the device may still be doing and when it did
/// it. Batches need not be waited for to be trained; whoever reads them otherwise waits first. No function
/// keeps a reference to its arguments. Threads: copy(), train(), and the group of prepare(), sample() and
/// gather() may run at the same time on different batches, each called by one thread at a time. No other
/// function may run at the same time as any of them, except slots(), which may always be called. Errors: all
/// functions throw base::Failure if the device fails or its memory does not suffice; the message then gives
/// the missing bytes and the plan's fields that lower the need.
class Device {
 public:
  /// Trains on a batch; see train().
  using Learn = std::function<void(const nn::TensorBatch& batch)>;

  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// Where the tensors of its batches lie.
  virtual c10::Device tensor_device() const = 0;
  /// Whether it has memory of its own: transfers then copy over a link, and facts about both can be measured.
  virtual bool has_link() const = 0;
  /// Host slots in the memory from which copy() is fastest (a GPU's: pinned). The pool lives as long as the
  /// device, and must outlive all slots and batches.
  virtual SlotPool& slots() = 0;

  /// Continues with another resolved plan, and with the graph placed as that plan wants it. The device shares
  /// the ownership of `graph` for as long as it reads it. Only what the change affects is done again: the
  /// device's copy of the graph if `graph` or the homes of its data change, caches if they are chosen
  /// otherwise. Opens what the plan's stages need, so that no stage has to.
  virtual void take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) = 0;

  /// The transfer stage: takes a batch from its host slot to the device. A device in the host's memory keeps
  /// the slot; any other copies it and returns it to its pool. A batch without features keeps its vertices'
  /// ids for gather() or train().
  virtual DeviceBatch copy(Slot slot) = 0;
  /// The device_batch stage: the batch of prepare_batch (runtime/batch/batch_data.h), bit for bit; that of
  /// sample_batch where plan.fused. `seeds` are in host memory.
  virtual DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) = 0;
  /// The device_batch stage of plans that reuse rows of the first layer: the batch of PrunedSampler
  /// (runtime/reuse/pruned_sampler.h), bit for bit, with DeviceBatch::bottom.
  virtual DeviceBatch prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                                     const HotVertices& hot) = 0;
  /// The group_transfer stage: tensors in host memory as tensors on the device. A device in the host's memory
  /// returns them; any other copies them over its link. May run at the same time as the other stages, but
  /// copy().
  virtual std::vector<at::Tensor> take_tensors(const std::vector<at::Tensor>& tensors) = 0;
  /// The device_batch stage of plans whose trainer gathers: the batch of sample_batch in host memory, bit for
  /// bit, which is there when the call returns. `data`'s memory is reused.
  virtual DeviceWorkPtr sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                               BatchData& data) = 0;
  /// The device_gather stage: adds the features to a batch without them.
  virtual void gather(DeviceBatch& batch) = 0;
  /// The train stage: calls `learn` once with the batch's tensors. Where plan.fused, the tensors lend the
  /// features where they are stored. Returns what `learn` has started on the current stream, which follows
  /// that of earlier calls, and which keeps the batch's memory; after an exception it is done, and the memory
  /// free.
  virtual DeviceWorkPtr train(DeviceBatch batch, const Learn& learn) = 0;
  /// Fills the caches that wait for it: those of the last plan, once a first train() has told how much memory
  /// is left. To be called by the thread of the stage before (train(), or sample() on a device that only
  /// samples), after that stage's end, for which a train() waits that caches wait for: filling takes seconds
  /// and is no stage's work. Does nothing where no cache waits.
  virtual void fill_due_caches() {}

  /// Within train(): what `gather` makes in host memory, copied to the device, over the link if there is one.
  virtual at::Tensor pull(const std::function<at::Tensor()>& gather) { return gather(); }
  /// Within train(): a copy of `rows` in host memory, or `rows` if they lie there.
  virtual at::Tensor push(const at::Tensor& rows) { return rows; }

  /// Links the device to others of its kind, of which `first` is the first. To be called once, in the order
  /// of the devices, before the first stage. Without it, and on kinds without such links, it is alone.
  virtual void join(Device& first) { (void)first; }

  /// Counts `bytes` of a model's weights, and of what else is kept of it from step to step, as the device's
  /// memory; a later call replaces an earlier one. A device whose tensors lie in its own memory counts them
  /// anyway.
  virtual void hold_model(std::int64_t bytes) { (void)bytes; }
  /// The memory that was in use at the same time so far; 0 for a device in the host's memory.
  virtual std::int64_t peak_bytes() const { return 0; }

  /// Begins to send and to receive that many bytes of gradients over its link, both at once, and returns what
  /// waits for the end. A device whose averages do not cross an emulated link returns at once.
  virtual std::function<void()> begin_exchange(std::int64_t bytes) {
    (void)bytes;
    return [] {};
  }

  /// What the caches answered since the last call, or since they were filled.
  virtual CacheUse take_cache_use() = 0;

  /// Measures the device; no stage may run. Takes seconds, and device memory for its buffers.
  virtual DeviceFacts measure() = 0;
};

/// Where the tensors of the device's mini-batches, and of a model that it trains, lie.
c10::Device tensor_device(const DeviceOptions& options);

/// Whether the device trains from sparse features. For any other they are made dense (features_for).
bool takes_sparse_features(const DeviceOptions& options);

/// The graph with features in a form that the device takes. Throws base::Failure if dense features do not fit
/// the available memory.
graph::Graph features_for(const graph::Graph& graph, const DeviceOptions& options);

/// The device that `options` name, ready for `plan`. `progress` is told how far caches are filled. Throws
/// base::InputError if there is no such device (why_no_device).
std::unique_ptr<Device> open_device(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
                                    const plan::Plan& plan, const DeviceOptions& options,
                                    const base::Progress& progress = {});

}  // namespace gnomon::runtime
