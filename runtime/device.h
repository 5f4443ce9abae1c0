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

/// Device properties for a profile. Absent if the device does not have them or they could not be measured.
struct DeviceFacts {
  std::string name;
  double memory_bytes = 0;  ///< that training may use
  double peak_bytes = 0;    ///< allocated at the same time so far; 0 for a device in the host's memory
  /// Of a copy within its memory; bytes read plus bytes written.
  std::optional<double> memory_bandwidth_bytes_per_s{};
  /// Of a copy from host slots to device memory.
  std::optional<double> link_bandwidth_bytes_per_s{};
  /// Minimum share of its thread slots with which a gather reaches the link's bandwidth.
  std::optional<double> link_saturation_share{};
  std::optional<int> multiprocessors{};
  base::PcieLink link{};
};

/// Executes the device's stages of a plan. Implementations: runtime/host/host_device.h (threads of the same
/// machine), runtime/emulated/emulated_device.h (a device behind a link, emulated there) and
/// runtime/streams/stream_device.h (a GPU); open_device() chooses one.
///
/// Synchronisation: functions return only after their work is done, on the host and on the device, so that
/// the duration of the call is the duration of the stage; but prepare(), prepare_pruned() and gather() store
/// work that may still be running, with its time span, in DeviceBatch::work, and sample() and train() return
/// it. Training on a batch needs no wait; all other readers must wait first. No function keeps a reference to
/// its arguments. Threads: copy(), train(), and the group of prepare(), sample() and gather() may run at the
/// same time on different batches, each called by one thread at a time. No other function may run at the same
/// time as any of them, except slots(), which may always be called. Errors: all functions throw base::Failure
/// if the device fails or its memory does not suffice; the message then gives the missing bytes and the
/// plan's fields that lower the need.
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
  /// Whether it has memory of its own: transfers then copy over a link, and both can be measured.
  virtual bool has_link() const = 0;
  /// Host slots in the kind of memory from which copy() is fastest (for a GPU: pinned). The pool lives as
  /// long as the device, and must outlive all slots and batches.
  virtual SlotPool& slots() = 0;

  /// Switches to another resolved plan, with the graph placed accordingly. The device shares the ownership of
  /// `graph` while it reads it. Only what the change affects is redone: the device's copy of the graph if
  /// `graph` or the homes of its data change, and caches if their content changes. Initialises everything
  /// that the plan's stages need, so that no stage does.
  virtual void take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) = 0;

  /// The transfer stage: takes a batch from its host slot to the device. A device in the host's memory keeps
  /// the slot; any other copies it and returns it to its pool. A batch without features keeps its vertex ids
  /// for gather() or train().
  virtual DeviceBatch copy(Slot slot) = 0;
  /// The device_batch stage: the batch of prepare_batch (runtime/batch/batch_data.h), bit for bit; that of
  /// sample_batch where plan.fused. `seeds` are in host memory.
  virtual DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) = 0;
  /// The device_batch stage of plans that reuse rows of the first layer: the batch of PrunedSampler
  /// (runtime/reuse/pruned_sampler.h), bit for bit, with DeviceBatch::bottom.
  virtual DeviceBatch prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                                     const HotVertices& hot) = 0;
  /// The group_transfer stage: moves tensors from host memory to the device. A device in the host's memory
  /// returns them; any other copies them over its link. May run concurrently with all stages except copy().
  virtual std::vector<at::Tensor> take_tensors(const std::vector<at::Tensor>& tensors) = 0;
  /// The group_transfer stage of plans with macro-batches: copies a macro-batch's graph to the device ahead
  /// of its open_graph(). Rows of its features that `wanted_rows` (by vertex; empty: all) does not mark are
  /// not copied. All but the last copy before are freed. A device in the host's memory reads the graph in
  /// place. May run concurrently with all stages except copy().
  // Implementations keep the graph. NOLINTNEXTLINE(performance-unnecessary-value-param)
  virtual void copy_graph(std::shared_ptr<const PlacedGraph> graph,
                          std::span<const std::uint8_t> wanted_rows) {
    (void)graph;
    (void)wanted_rows;
  }
  /// Within the device_batch stage: later calls of prepare() draw from this graph, which copy_graph() has
  /// copied. Shares the ownership of `graph`. Preconditions: no batch of another graph is in use, and the
  /// device's kind executes macro-batches (plan/abilities.h).
  virtual void open_graph(std::shared_ptr<const PlacedGraph> graph);
  /// The device_batch stage of plans whose trainer gathers: the batch of sample_batch, bit for bit, in host
  /// memory; it is complete when the call returns. `data`'s memory is reused.
  virtual DeviceWorkPtr sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                               BatchData& data) = 0;
  /// The device_gather stage: adds the features to a batch without them.
  virtual void gather(DeviceBatch& batch) = 0;
  /// The train stage: calls `learn` once with the batch's tensors. If plan.fused, the tensors refer to the
  /// features in the feature store. Returns the work that `learn` has started on the current stream, which is
  /// ordered after that of earlier calls and owns the batch's memory; after an exception it has completed and
  /// the memory is free.
  virtual DeviceWorkPtr train(DeviceBatch batch, const Learn& learn) = 0;
  /// Fills the caches that are due: those of the last plan, once a first train() has shown how much memory is
  /// left. To be called by the thread of the preceding stage (train(), or sample() on a device that only
  /// samples) after the end of that stage; a train() on which caches depend completes its work first. It is
  /// separate because filling takes seconds and belongs to no stage. Returns whether a cache was due.
  virtual bool fill_due_caches() { return false; }

  /// Within train(): copies the result of `gather`, a tensor in host memory, to the device, over the link if
  /// there is one.
  virtual at::Tensor pull(const std::function<at::Tensor()>& gather) { return gather(); }
  /// Within train(): returns a copy of `rows` in host memory, or `rows` itself if it is there.
  virtual at::Tensor push(const at::Tensor& rows) { return rows; }

  /// Links the device to other devices of its kind, the first of which is `first`. To be called once, in the
  /// order of the devices, before the first stage. Kinds without such links ignore it.
  virtual void join(Device& first) { (void)first; }

  /// Accounts `bytes` of a model's persistent state (weights, optimiser) to the device's memory; a later call
  /// replaces an earlier one. A device whose tensors are in its own memory accounts for them anyway.
  virtual void hold_model(std::int64_t bytes) { (void)bytes; }
  /// The peak memory use so far; 0 for a device in the host's memory.
  virtual std::int64_t peak_bytes() const { return 0; }

  /// Starts to send and receive `bytes` of gradients over its link at the same time, and returns a function
  /// that waits for the end. Does nothing on a device whose gradients do not cross an emulated link.
  virtual std::function<void()> begin_exchange(std::int64_t bytes) {
    (void)bytes;
    return [] {};
  }

  /// The use of the caches since the last call or since they were filled.
  virtual CacheUse take_cache_use() = 0;

  /// Measures the device. No stage may be running. Takes seconds, and device memory for buffers.
  virtual DeviceFacts measure() = 0;
};

/// The LibTorch device of the tensors of its mini-batches and models.
c10::Device tensor_device(const DeviceOptions& options);

/// Whether the device trains from sparse features. For other devices they are converted to dense
/// (features_for).
bool takes_sparse_features(const DeviceOptions& options);

/// The graph with features in a form that the device takes. Throws base::Failure if dense features do not fit
/// the available memory.
graph::Graph features_for(const graph::Graph& graph, const DeviceOptions& options);

/// Opens the device that `options` name, ready for `plan`. `progress` reports the filling of caches. Throws
/// base::InputError if there is no such device (why_no_device).
std::unique_ptr<Device> open_device(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
                                    const plan::Plan& plan, const DeviceOptions& options,
                                    const base::Progress& progress = {});

}  // namespace gnomon::runtime
