#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "graph/graph.h"
#include "kernels/cpu/sample/sampler.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/accelerator.h"
#include "runtime/batch_data.h"
#include "runtime/device_batch.h"
#include "runtime/host_machine.h"
#include "runtime/placement.h"

namespace gnomon::runtime {

/// How large a mini-batch is.
struct BatchSize {
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  std::int64_t bytes = 0;  ///< that a transfer copies
};

/// The real work of every stage of an epoch (the bodies of StageWork), and the slots that batches lie in.
/// Stages speak of *positions* 0 … n-1 in the list of batches given to begin_epoch: the whole epoch in order,
/// what is left of it after a resume, or a replayed order. Slots are recycled from epoch to epoch.
///
/// The stages may run at the same time on different positions; the stages of one position follow each other
/// (which a Machine's dependencies see to), as do all train, device_batch and device_gather calls, all
/// transfers, and all cpu_batch calls of one worker.
class Stages {
 public:
  /// Trains on a prepared batch; `batch` is its index in the epoch.
  using Learn = std::function<void(const nn::TensorBatch& data, std::int64_t batch)>;

  /// `graph` must outlive it. `plan` is resolved, and says where the data is placed (runtime/placement.h).
  /// Without a GPU the device's stages are the host's, in slots of its memory. `progress` is told how far a
  /// GPU's caches are filled.
  Stages(const graph::Graph& graph, plan::Job job, const plan::Plan& plan, Learn learn,
         DeviceOptions device = {}, base::Progress progress = {});

  /// Goes on by another resolved plan; no stage may be running, and begin_epoch comes next.
  void take_plan(const plan::Plan& plan);

  /// Mini-batches in a whole epoch.
  std::int64_t batches() const;
  /// Position i of the coming stages is batch `order[i]` of `epoch`. Drops batches left from before; no stage
  /// may be running.
  void begin_epoch(std::int64_t epoch, std::vector<std::int64_t> order);

  /// Samples and gathers into a host slot, then copies the batch plan.handover_copies times more. Where the
  /// plan prepares samples, this and device_batch only sample.
  void cpu_batch(std::int64_t position, int worker);
  /// Copies the batch from its host slot to a device slot. A host device takes the slot itself.
  void transfer(std::int64_t position);
  /// Samples and gathers straight into a device slot; a host device's threads share the batch. Where the
  /// trainer gathers, into a host slot, which lies in the queue between the two
  /// (schedule/policies/factored.cpp).
  void device_batch(std::int64_t position);
  /// Adds the features to a batch in its device slot that was copied without.
  void device_gather(std::int64_t position);
  /// Calls `learn` with the batch in its device slot, which is free afterwards.
  void train(std::int64_t position);

  /// The stages for a machine; this object must outlive it.
  StageWork work();
  /// How large the batch in its device slot is, after transfer or device_batch.
  BatchSize device_slot_size(std::int64_t position) const;
  /// What the device's caches answered since the last call; nothing on a host device, which has none.
  CacheUse take_cache_use() { return accelerator_ ? accelerator_->take_cache_use() : CacheUse{}; }
  /// The GPU, when there is one.
  Accelerator* accelerator() const { return accelerator_.get(); }

 private:
  using Slot = std::unique_ptr<BatchData>;
  /// Free slots; shared by the threads.
  class Pool {
   public:
    Slot take();
    void give(Slot slot);
    void drop_all();
    /// New slots' features lie there.
    void use_memory(std::pmr::memory_resource* memory) { memory_ = memory; }

   private:
    std::pmr::memory_resource* memory_ = std::pmr::new_delete_resource();
    std::mutex mutex_;
    std::vector<Slot> free_;
  };

  void open_device();
  std::span<const graph::VertexId> seeds_of(std::int64_t position) const;
  kernels::BatchKey key_of(std::int64_t position) const;
  /// Whether device_batch's samples wait for the trainer in the host's memory
  /// (schedule/policies/factored.cpp).
  bool queues_samples() const { return plan_.gather == plan::Gather::trainer; }
  Slot prepare(std::int64_t position, kernels::cpu::Sampler& sampler);
  kernels::cpu::Sampler& sampler_of(int worker);
  kernels::cpu::Sampler& device_sampler();

  const graph::Graph& graph_;
  PlacedGraph data_;  ///< the graph where the plan wants it, shared by all samplers
  plan::Job job_;
  plan::Plan plan_;
  Learn learn_;
  DeviceOptions device_options_;
  base::Progress progress_;                   ///< of what a device does beside the stages
  std::unique_ptr<Accelerator> accelerator_;  ///< before the slots, which lie in its memory
  std::int64_t epoch_ = 0;
  std::vector<std::int64_t> order_;
  std::vector<graph::VertexId> seeds_;          ///< of the whole epoch, shuffled
  std::vector<std::vector<int>> thread_cores_;  ///< of each worker's threads
  /// By the threads that share a batch: of each worker, made at first use.
  std::map<int, std::vector<std::unique_ptr<kernels::cpu::Sampler>>> samplers_;
  std::map<int, std::unique_ptr<kernels::cpu::Sampler>> device_samplers_;  ///< by its threads, likewise
  Pool pool_;                                    ///< of host slots, and of a host device's
  std::vector<Slot> host_slots_, device_slots_;  ///< by position
  std::vector<DeviceBatch> accelerator_slots_;   ///< by position, instead of device_slots_
};

}  // namespace gnomon::runtime
