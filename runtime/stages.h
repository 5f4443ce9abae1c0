#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/sample/sampler.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/batch/device_batch.h"
#include "runtime/batch/slot_pool.h"
#include "runtime/device.h"
#include "runtime/disk/disk_data.h"
#include "runtime/disk/host_memory.h"
#include "runtime/host_machine.h"
#include "runtime/macro/macro_data.h"
#include "runtime/placement.h"
#include "runtime/reuse/hot_embeddings.h"

namespace gnomon::runtime {

/// Whether a machine for the plan has an engine for each device that prepares or gathers beside training.
bool works_beside_training(const plan::Plan& plan);

/// The work of each stage of an epoch (the bodies of StageWork), and the slots that hold the batches between
/// the stages. Stages work on *positions* 0 … n-1 in the list of batches given to begin_epoch(): the whole
/// epoch in order, the rest of it after a resume, or a replayed order. Slots are recycled from epoch to
/// epoch.
///
/// With several devices, position i is prepared and trained by device i mod plan.devices, and D positions
/// form a step. With divided roles (schedule "factored"), the policy assigns stages to devices, and each
/// device holds only the data that its role reads.
///
/// Stages of different positions may run at the same time. A Machine's dependencies order the stages of one
/// position. On one device, calls of train() are sequential, as are those of transfer(), and those of
/// device_batch() and device_gather() together; so are those of cpu_batch() with one worker.
class Stages {
 public:
  /// Trains on a prepared batch; `batch` is its index in the epoch, `device` the number of its device. Called
  /// by several devices at once. With several devices it only computes gradients.
  using Learn = std::function<void(const nn::TensorBatch& data, std::int64_t batch, int device)>;
  /// Averages the gradients computed by the devices' calls of Learn, and updates the weights. Returns the
  /// bytes of the gradients on one device.
  using Average = std::function<std::int64_t()>;

  /// `graph` must outlive it. `plan` is resolved; its homes and its placement determine where the data is
  /// stored (runtime/placement.h). `progress` reports the filling of the device's caches. Throws what
  /// open_device() throws.
  Stages(const graph::Graph& graph, plan::Job job, const plan::Plan& plan, Learn learn,
         DeviceOptions device = {}, base::Progress progress = {}, Average average = {});

  /// Switches to another resolved plan. No stage may be running, and begin_epoch() must be called next.
  void take_plan(const plan::Plan& plan);

  /// Mini-batches in a whole epoch; with macro-batches of the first pass over each, a number that differs
  /// from epoch to epoch.
  std::int64_t batches(std::int64_t epoch = 0) const;
  /// Position i of the next stages is batch `order[i]` of `epoch`, unless the policy assigns another pass
  /// over a macro-batch to it, whose mini-batches have numbers of their own (runtime/macro/macro_layout.h).
  /// Drops all batches in slots; no stage may be running. With `hot`, which must outlive the stages,
  /// mini-batches reuse its embeddings; position 0 is then its mini-batch `first`, which starts a super-batch
  /// or the rest of one.
  void begin_epoch(std::int64_t epoch, std::vector<std::int64_t> order, HotEmbeddings* hot = nullptr,
                   std::int64_t first = 0);

  /// Samples a batch and gathers its features into a host slot, then copies the batch plan.handover_copies
  /// times. Does not gather if the plan prepares samples only, and omits rows in the device's cache if the
  /// plan's draws are biased.
  void cpu_batch(std::int64_t position, int worker);
  /// Takes the batch from its host slot to a device slot.
  void transfer(std::int64_t position, int device = 0);
  /// Samples a batch and gathers its features on the device, into a device slot. If the trainer gathers, the
  /// batch goes to a host slot without features, where it waits for the trainer
  /// (schedule/policies/factored.cpp).
  void device_batch(std::int64_t position, int device = 0);
  /// Adds the features to a batch in its device slot that has none.
  void device_gather(std::int64_t position, int device = 0);
  /// Calls `learn` with the batch in its device slot, which afterwards only holds the device's work.
  void train(std::int64_t position, int device = 0);
  /// A worker's share of the refresh of embeddings for the super-batch `group` of these positions, and the
  /// transfer of the result to the device; or its share of the work for the macro-batch `group`.
  void group_prepare(std::int64_t group, int worker);
  void group_transfer(std::int64_t group);
  /// Machine::assign.
  void assign(std::int64_t position, std::int64_t index, int pass);
  /// Calls `average` while the devices exchange the gradients.
  void all_reduce();

  /// Implements StageWork::left_to_device.
  DeviceWorkPtr take_work(schedule::Stage stage, std::int64_t position);
  /// Implements StageWork::after: fills the device's caches.
  void after(schedule::Stage stage, int device);

  /// Accounts for a model's memory on each training device (Device::hold_model).
  void hold_model(std::int64_t bytes);
  /// The seconds that filling the devices' caches took since the last call.
  double take_filling_s() { return filling_s_.exchange(0); }
  /// Reserves `bytes` of host memory for evaluation between epochs, which disk caches leave free.
  void hold_evaluation(std::int64_t bytes) { evaluation_bytes_ = bytes; }

  /// The stages for a machine, which this object must outlive.
  StageWork work();
  /// The size of the batch in its device slot, after transfer() or device_batch().
  BatchSize device_slot_size(std::int64_t position) const;
  /// The batch of the epoch that a position trains.
  std::int64_t batch_of(std::int64_t position) const {
    return batches_at_[static_cast<std::size_t>(position)];
  }
  /// The vertices of the batch in training, seeds first; only within Learn, and only of plans that reuse the
  /// embeddings of all vertices or of halos.
  std::span<const graph::VertexId> vertices_in_training() const { return vertices_in_training_; }
  /// The positions of the halo among these vertices, ascending; only of plans that reuse the embeddings of
  /// halos.
  std::span<const std::int64_t> halo_in_training() const { return halo_in_training_; }
  /// The use of the device's and the disk caches since the last call.
  CacheUse take_cache_use();
  /// Disk reads since the last call.
  ReadCounts take_disk_reads();
  /// The first device; for measurements between the stages.
  Device& device() const { return *devices_.front(); }
  /// Peak memory use so far of the device that used most; 0 for devices in the host's memory.
  std::int64_t device_peak_bytes() const;
  /// The graph as the plan places it, with features in a form that the device takes.
  std::shared_ptr<const PlacedGraph> placed() const { return placed_; }
  /// The device of a position if roles are not divided.
  int device_of(std::int64_t position) const { return static_cast<int>(position % plan_.devices); }

 private:
  std::span<const graph::VertexId> seeds_of(std::int64_t position) const;
  kernels::BatchKey key_of(std::int64_t position) const;
  kernels::cpu::BatchThreads threads_of(int worker) const;
  kernels::cpu::Sampler& sampler_of(int worker);
  std::vector<graph::VertexId> local_seeds_of(std::int64_t position, const MacroBatch& macro) const;
  void prepare_from(MacroBatch& macro, std::int64_t position, int worker, BatchData& data);
  void open_macro(std::int64_t position, int device);
  void note_halo(std::int64_t position, const DeviceBatch& batch);
  void check_macro_memory();
  void check_macro_memory(MacroBatch& first);
  int first_with_gradients() const;
  void place_graph(const plan::Plan& plan);
  void fill_host_caches();
  using SampleAt = std::function<void(std::int64_t position, BatchData& data)>;
  BatchNeeds measure_batches(const SampleAt& sample, const graph::Features& features,
                             const kernels::cpu::Sampler& sampler);
  Device& at(int device) const { return *devices_[static_cast<std::size_t>(device)]; }

  graph::Graph graph_;                         ///< with features in a form that the device takes
  std::unique_ptr<DiskData> disk_;             ///< of plans whose mini-batches read the disk
  std::unique_ptr<MacroData> macro_;           ///< of plans with macro-batches
  bool has_checked_macro_ = false;             ///< whether their memory has been counted
  std::shared_ptr<MacroBatch> opened_;         ///< the one that the device prepares from
  std::shared_ptr<const PlacedGraph> placed_;  ///< shared by all samplers and the device
  plan::Job job_;
  plan::Plan plan_;
  Learn learn_;
  Average average_;
  DeviceOptions device_options_;
  base::Progress progress_;
  /// The maximum number of any plan so far. Declared before the slots, which use their memory.
  std::vector<std::unique_ptr<Device>> devices_;
  std::atomic<double> filling_s_ = 0;  ///< for take_filling_s()
  std::int64_t model_bytes_ = 0;       ///< as passed to hold_model()
  std::int64_t evaluation_bytes_ = 0;  ///< to hold_evaluation()
  std::int64_t epoch_ = 0;
  std::vector<std::int64_t> order_;       ///< as given to begin_epoch()
  std::vector<std::int64_t> batches_at_;  ///< by position
  HotEmbeddings* hot_ = nullptr;          ///< as passed to begin_epoch(), with the next member
  std::int64_t first_ = 0;
  std::vector<graph::VertexId> seeds_;          ///< of the whole epoch, shuffled
  std::int64_t seeds_epoch_ = -1;               ///< the epoch of seeds_
  std::vector<std::vector<int>> thread_cores_;  ///< of each worker's threads
  /// Each vertex's row in the device's cache, or -1; empty if workers gather all rows.
  std::vector<std::int32_t> cache_slots_;
  /// By threads per batch: the sampler of each worker, created on first use.
  std::map<int, std::vector<std::unique_ptr<kernels::cpu::Sampler>>> samplers_;
  std::vector<Slot> host_slots_;           ///< by position
  std::vector<DeviceBatch> device_slots_;  ///< by position
  /// By position, from the transfer until the training; empty unless the plan reuses the embeddings of all.
  std::vector<std::vector<graph::VertexId>> vertices_;
  std::vector<graph::VertexId> vertices_in_training_;
  std::vector<std::int64_t> halo_in_training_;
};

}  // namespace gnomon::runtime
