#include "runtime/stages.h"

#include <algorithm>
#include <utility>

#include "base/interleave.h"
#include "graph/epoch_order.h"
#include "runtime/batch_tensors.h"

namespace gnomon::runtime {

Stages::Slot Stages::Pool::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    return std::make_unique<BatchData>(memory_);
  }
  auto slot = std::move(free_.back());
  free_.pop_back();
  return slot;
}

void Stages::Pool::give(Slot slot) {
  if (slot) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(slot));
  }
}

void Stages::Pool::drop_all() {
  const std::lock_guard lock(mutex_);
  free_.clear();
}

Stages::Stages(const graph::Graph& graph, plan::Job job, const plan::Plan& plan, Learn learn,
               DeviceOptions device, base::Progress progress)
    : graph_(graph),
      data_(place(graph, draws_of(graph, job), plan.placement, base::memory_nodes())),
      job_(std::move(job)),
      plan_(plan),
      learn_(std::move(learn)),
      device_options_(device),
      progress_(std::move(progress)) {
  take_plan(plan);
}

/// Slots' memory is the old device's until then.
void Stages::open_device() {
  begin_epoch(epoch_, {});
  pool_.drop_all();
  accelerator_.reset();
  accelerator_ = open_gpu(data_, job_, plan_, device_options_, progress_);
  pool_.use_memory(accelerator_->host_memory());
}

void Stages::take_plan(const plan::Plan& plan) {
  if (plan.pinning != plan_.pinning) {  // the samplers hold threads
    samplers_.clear();
  }
  const bool moves =
      plan.placement != plan_.placement || plan.topology != plan_.topology || plan.features != plan_.features;
  if (plan.placement != plan_.placement) {
    samplers_.clear();
    device_samplers_.clear();
    accelerator_.reset();
    data_ = place(graph_, draws_of(graph_, job_), plan.placement, base::memory_nodes());
  }
  plan_ = plan;
  if (device_options_.gpu && (moves || !accelerator_)) {
    open_device();
  } else if (accelerator_) {
    accelerator_->take_plan(plan);
  }
  thread_cores_ = thread_cores(plan);  // found here: a pinned worker sees no core but its own
  const auto workers = static_cast<std::size_t>(std::max(1, plan.workers));
  auto& samplers = samplers_[plan.worker_threads];
  samplers.resize(std::max(samplers.size(), workers));  // those that a plan does not use wait for the next
}

std::int64_t Stages::batches() const {
  return graph::num_batches(static_cast<std::int64_t>(data_.graph.train.size()), job_.batch_size);
}

void Stages::begin_epoch(std::int64_t epoch, std::vector<std::int64_t> order) {
  for (auto& slot : host_slots_) {
    pool_.give(std::move(slot));
  }
  for (auto& slot : device_slots_) {
    pool_.give(std::move(slot));
  }
  host_slots_.clear();
  device_slots_.clear();
  accelerator_slots_.clear();
  host_slots_.resize(order.size());
  device_slots_.resize(order.size());
  accelerator_slots_.resize(order.size());
  epoch_ = epoch;
  order_ = std::move(order);
  seeds_ = graph::epoch_order(data_.graph.train, job_.seed, static_cast<std::uint64_t>(epoch));
}

kernels::cpu::Sampler& Stages::sampler_of(int worker) {
  auto& sampler = samplers_.at(plan_.worker_threads)[static_cast<std::size_t>(worker)];
  if (!sampler) {
    const kernels::cpu::BatchThreads threads{plan_.worker_threads,
                                             thread_cores_[static_cast<std::size_t>(worker)]};
    sampler = std::make_unique<kernels::cpu::Sampler>(data_.topology, job_.fanouts,
                                                      kernels::cpu::EdgeIds::omit, threads);
  }
  return *sampler;
}

kernels::cpu::Sampler& Stages::device_sampler() {
  auto& sampler = device_samplers_[plan_.device_threads];
  if (!sampler) {
    sampler =
        std::make_unique<kernels::cpu::Sampler>(data_.topology, job_.fanouts, kernels::cpu::EdgeIds::omit,
                                                kernels::cpu::BatchThreads{plan_.device_threads, {}});
  }
  return *sampler;
}

kernels::BatchKey Stages::key_of(std::int64_t position) const {
  return {job_.seed, static_cast<std::uint64_t>(epoch_),
          static_cast<std::uint64_t>(order_[static_cast<std::size_t>(position)])};
}

std::span<const graph::VertexId> Stages::seeds_of(std::int64_t position) const {
  return graph::batch_seeds(seeds_, job_.batch_size, order_[static_cast<std::size_t>(position)]);
}

Stages::Slot Stages::prepare(std::int64_t position, kernels::cpu::Sampler& sampler) {
  auto slot = pool_.take();
  const auto act = plan_.prepares_samples() ? sample_batch : prepare_batch;
  act(data_.graph, sampler, key_of(position), seeds_of(position), *slot);
  return slot;
}

void Stages::cpu_batch(std::int64_t position, int worker) {
  auto slot = prepare(position, sampler_of(worker));
  for (int i = 0; i < plan_.handover_copies; ++i) {
    auto handed_over = pool_.take();
    copy_batch(*slot, *handed_over);
    pool_.give(std::exchange(slot, std::move(handed_over)));
  }
  host_slots_[static_cast<std::size_t>(position)] = std::move(slot);
}

void Stages::transfer(std::int64_t position) {
  const auto at = static_cast<std::size_t>(position);
  if (accelerator_) {
    accelerator_slots_[at] = accelerator_->copy(*host_slots_[at]);
    pool_.give(std::move(host_slots_[at]));
  } else {
    device_slots_[at] = std::move(host_slots_[at]);
  }
}

void Stages::device_batch(std::int64_t position) {
  const auto at = static_cast<std::size_t>(position);
  if (accelerator_ && queues_samples()) {
    host_slots_[at] = pool_.take();
    accelerator_->sample(key_of(position), seeds_of(position), *host_slots_[at]);
  } else if (accelerator_) {
    accelerator_slots_[at] = accelerator_->prepare(key_of(position), seeds_of(position));
  } else {
    (queues_samples() ? host_slots_ : device_slots_)[at] = prepare(position, device_sampler());
  }
}

void Stages::device_gather(std::int64_t position) {
  const auto at = static_cast<std::size_t>(position);
  if (accelerator_) {
    accelerator_->gather(accelerator_slots_[at]);
  } else {
    gather_features(data_.graph, device_sampler().team(), *device_slots_[at]);
  }
}

void Stages::train(std::int64_t position) {
  if (accelerator_) {
    auto batch = std::exchange(accelerator_slots_[static_cast<std::size_t>(position)], {});
    if (plan_.fused) {
      accelerator_->lend_features(batch);
    }
    accelerator_->train([&] { learn_(batch.tensors, order_[static_cast<std::size_t>(position)]); });
    return;
  }
  auto& slot = device_slots_[static_cast<std::size_t>(position)];
  auto batch = view_of(*slot);
  if (plan_.fused) {
    batch.stored = nn::stored_features(data_.graph.features, ids_of(*slot));
  }
  learn_(batch, order_[static_cast<std::size_t>(position)]);
  pool_.give(std::move(slot));
}

StageWork Stages::work() {
  return {[this](std::int64_t position, int worker) { cpu_batch(position, worker); },
          [this](std::int64_t position) { transfer(position); },
          [this](std::int64_t position) { device_batch(position); },
          [this](std::int64_t position) { train(position); },
          [this](std::int64_t position) { device_gather(position); }};
}

BatchSize Stages::device_slot_size(std::int64_t position) const {
  if (accelerator_) {
    const auto& batch = accelerator_slots_[static_cast<std::size_t>(position)];
    return {batch.num_vertices, batch.num_edges, batch.bytes};
  }
  const BatchData& data = *device_slots_[static_cast<std::size_t>(position)];
  return {std::ssize(data.batch.vertices), data.batch.num_edges(), data.bytes()};
}

}  // namespace gnomon::runtime
