#pragma once

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
/// With several devices, position i is prepared and trained by device i mod plan.devices: D positions are a
/// step. Where roles are divided (schedule "factored"), the policy says which device does what, and each
/// device holds only what its role reads.
///
/// Stages of different positions may run at the same time. A Machine's dependencies order the stages of one
/// position. On one device, all calls of train() follow each other, as do those of transfer(), and those of
/// device_batch() and device_gather() together; so do those of cpu_batch() with one worker.
class Stages {
 public:
  /// Trains on a prepared batch; `batch` is its index in the epoch, `device` the number of its device. Called
  /// by several devices at once. With several devices it only computes gradients.
  using Learn = std::function<void(const nn::TensorBatch& data, std::int64_t batch, int device)>;
  /// Averages the gradients that the devices' calls of Learn have left, and updates the weights. Returns the
  /// bytes of the gradients on one device.
  using Average = std::function<std::int64_t()>;

  /// `graph` must outlive it. `plan` is resolved; its homes and its placement decide where the data lies
  /// (runtime/placement.h). `progress` is told how far the device's caches are filled. Throws what
  /// open_device() throws.
  Stages(const graph::Graph& graph, plan::Job job, const plan::Plan& plan, Learn learn,
         DeviceOptions device = {}, base::Progress progress = {}, Average average = {});

  /// Continues with another resolved plan. No stage may be running; begin_epoch() comes next.
  void take_plan(const plan::Plan& plan);

  /// Mini-batches in a whole epoch.
  std::int64_t batches() const;
  /// Position i of the next stages is batch `order[i]` of `epoch`. Drops all batches in slots; no stage may
  /// be running. With `hot`, which must outlive the stages, mini-batches reuse its embeddings; position 0 is
  /// then its mini-batch `first`, the first of a super-batch or among those that are left of one.
  void begin_epoch(std::int64_t epoch, std::vector<std::int64_t> order, HotEmbeddings* hot = nullptr,
                   std::int64_t first = 0);

  /// Samples a batch and gathers its features into a host slot, then copies the batch plan.handover_copies
  /// times. Without gathering where the plan prepares samples, and without the rows that the device's cache
  /// holds where the plan's draws prefer these.
  void cpu_batch(std::int64_t position, int worker);
  /// Takes the batch from its host slot to a device slot.
  void transfer(std::int64_t position, int device = 0);
  /// Samples a batch and gathers its features on the device, into a device slot. Where the trainer gathers,
  /// into a host slot without features: it waits there for the trainer (schedule/policies/factored.cpp).
  void device_batch(std::int64_t position, int device = 0);
  /// Adds the features to a batch in its device slot that has none.
  void device_gather(std::int64_t position, int device = 0);
  /// Calls `learn` with the batch in its device slot, which then holds but the device's work.
  void train(std::int64_t position, int device = 0);
  /// A worker's share of the refresh of embeddings for the super-batch `group` of these positions, and the
  /// transfer of the result to the device.
  void group_prepare(std::int64_t group, int worker);
  void group_transfer(std::int64_t group);
  /// Calls `average` while the devices exchange the gradients.
  void all_reduce();

  /// StageWork::left_to_device: of a stage on a device, after its call.
  DeviceWorkPtr take_work(schedule::Stage stage, std::int64_t position);
  /// What a device does once a stage has ended: fills its caches.
  void after(schedule::Stage stage, int device);

  /// Counts a model's memory on each device that trains (Device::hold_model).
  void hold_model(std::int64_t bytes);
  /// Counts `bytes` of the host's memory that evaluation takes between epochs, which caches before the disk
  /// leave free.
  void hold_evaluation(std::int64_t bytes) { evaluation_bytes_ = bytes; }

  /// The stages for a machine, which this object must outlive.
  StageWork work();
  /// The size of the batch in its device slot, after transfer() or device_batch().
  BatchSize device_slot_size(std::int64_t position) const;
  /// The vertices of the batch in training, seeds first; only within Learn, and only of plans that reuse the
  /// embeddings of all vertices.
  std::span<const graph::VertexId> vertices_in_training() const { return vertices_in_training_; }
  /// What the device's caches, and those before the disk, answered since the last call.
  CacheUse take_cache_use();
  /// What was read from the disk since the last call.
  ReadCounts take_disk_reads() { return disk_ ? disk_->take_reads() : ReadCounts{}; }
  /// The first device; for measurements between the stages.
  Device& device() const { return *devices_.front(); }
  /// The graph as the plan places it, with features in a form that the device takes.
  std::shared_ptr<const PlacedGraph> placed() const { return placed_; }
  /// The number of the device of a position where roles are not divided.
  int device_of(std::int64_t position) const { return static_cast<int>(position % plan_.devices); }

 private:
  std::span<const graph::VertexId> seeds_of(std::int64_t position) const;
  kernels::BatchKey key_of(std::int64_t position) const;
  kernels::cpu::Sampler& sampler_of(int worker);
  int first_with_gradients() const;
  void place_graph(const plan::Plan& plan);
  void fill_host_caches();
  BatchNeeds measure_batches();
  Device& at(int device) const { return *devices_[static_cast<std::size_t>(device)]; }

  graph::Graph graph_;                         ///< with features in a form that the device takes
  std::unique_ptr<DiskData> disk_;             ///< of plans that read the disk
  std::shared_ptr<const PlacedGraph> placed_;  ///< shared by all samplers and the device
  plan::Job job_;
  plan::Plan plan_;
  Learn learn_;
  Average average_;
  DeviceOptions device_options_;
  base::Progress progress_;
  /// As many as any plan so far had; before the slots, which lie in their memory.
  std::vector<std::unique_ptr<Device>> devices_;
  std::int64_t model_bytes_ = 0;       ///< as given to hold_model(), as the next
  std::int64_t evaluation_bytes_ = 0;  ///< to hold_evaluation()
  std::int64_t epoch_ = 0;
  std::vector<std::int64_t> order_;
  HotEmbeddings* hot_ = nullptr;  ///< as given to begin_epoch(), as the next
  std::int64_t first_ = 0;
  std::vector<graph::VertexId> seeds_;          ///< of the whole epoch, shuffled
  std::int64_t seeds_epoch_ = -1;               ///< which that is
  std::vector<std::vector<int>> thread_cores_;  ///< of each worker's threads
  /// Of each vertex its row in the device's cache, or -1; empty if workers gather all rows.
  std::vector<std::int32_t> cache_slots_;
  /// By threads per batch: the sampler of each worker, made at first use.
  std::map<int, std::vector<std::unique_ptr<kernels::cpu::Sampler>>> samplers_;
  std::vector<Slot> host_slots_;           ///< by position
  std::vector<DeviceBatch> device_slots_;  ///< by position
  /// By position, from the transfer until the training; empty unless the plan reuses the embeddings of all.
  std::vector<std::vector<graph::VertexId>> vertices_;
  std::vector<graph::VertexId> vertices_in_training_;
};

}  // namespace gnomon::runtime
