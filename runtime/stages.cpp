#include "runtime/stages.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/interleave.h"
#include "kernels/cpu/epoch_order.h"
#include "runtime/tensor_batch.h"

namespace gnomon::runtime {

Stages::Slot Stages::Pool::take() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    return std::make_unique<BatchData>();
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

kernels::cpu::Draws draws_of(const graph::Graph& graph, const plan::Job& job) {
  if (job.weighted && graph.edge_weights.empty() && graph.num_edges() > 0) {
    throw base::InputError("job: weighted",
                           "graph \"" + graph.name + "\" has no edge weights; import it with --edge-weights");
  }
  return job.weighted ? kernels::cpu::Draws::by_weight : kernels::cpu::Draws::uniform;
}

Stages::Stages(const graph::Graph& graph, plan::Job job, const plan::Plan& plan, Learn learn)
    : graph_(graph),
      data_(place(graph, draws_of(graph, job), plan.placement, base::memory_nodes())),
      job_(std::move(job)),
      plan_(plan),
      learn_(std::move(learn)) {
  take_plan(plan);
}

void Stages::take_plan(const plan::Plan& plan) {
  if (plan.pinning != plan_.pinning) {  // the samplers hold threads
    samplers_.clear();
  }
  if (plan.placement != plan_.placement) {  // and what moves
    samplers_.clear();
    device_sampler_.reset();
    data_ = place(graph_, draws_of(graph_, job_), plan.placement, base::memory_nodes());
  }
  plan_ = plan;
  thread_cores_ = thread_cores(plan);  // found here: a pinned worker sees no core but its own
  const auto workers = static_cast<std::size_t>(std::max(1, plan.workers));
  auto& samplers = samplers_[plan.worker_threads];
  samplers.resize(std::max(samplers.size(), workers));  // those that a plan does not use wait for the next
}

std::int64_t Stages::batches() const {
  return kernels::cpu::num_batches(static_cast<std::int64_t>(data_.graph.train.size()), job_.batch_size);
}

void Stages::begin_epoch(std::int64_t epoch, std::vector<std::int64_t> order) {
  for (auto& slot : host_slots_) {
    host_pool_.give(std::move(slot));
  }
  for (auto& slot : device_slots_) {
    device_pool_.give(std::move(slot));
  }
  host_slots_.clear();
  device_slots_.clear();
  host_slots_.resize(order.size());
  device_slots_.resize(order.size());
  epoch_ = epoch;
  order_ = std::move(order);
  seeds_ = kernels::cpu::epoch_order(data_.graph.train, job_.seed, static_cast<std::uint64_t>(epoch));
}

kernels::cpu::Sampler& Stages::sampler_of(int worker) {
  auto& sampler = samplers_.at(plan_.worker_threads)[static_cast<std::size_t>(worker)];
  if (!sampler) {
    const kernels::cpu::BatchThreads threads{plan_.worker_threads,
                                             thread_cores_[static_cast<std::size_t>(worker)]};
    sampler = std::make_unique<kernels::cpu::Sampler>(data_.topology, job_.fanouts,
                                                      kernels::cpu::EdgeIds::leave_out, threads);
  }
  return *sampler;
}

Stages::Slot Stages::prepare(std::int64_t position, kernels::cpu::Sampler& sampler, Pool& pool) {
  const auto batch = order_[static_cast<std::size_t>(position)];
  auto slot = pool.take();
  prepare_batch(data_.graph, sampler,
                {job_.seed, static_cast<std::uint64_t>(epoch_), static_cast<std::uint64_t>(batch)},
                kernels::cpu::batch_seeds(seeds_, job_.batch_size, batch), *slot);
  return slot;
}

void Stages::cpu_batch(std::int64_t position, int worker) {
  auto slot = prepare(position, sampler_of(worker), host_pool_);
  for (int i = 0; i < plan_.handover_copies; ++i) {
    auto handed_over = host_pool_.take();
    copy_batch(*slot, *handed_over);
    host_pool_.give(std::exchange(slot, std::move(handed_over)));
  }
  host_slots_[static_cast<std::size_t>(position)] = std::move(slot);
}

void Stages::transfer(std::int64_t position) {
  auto& host_slot = host_slots_[static_cast<std::size_t>(position)];
  auto slot = device_pool_.take();
  copy_batch(*host_slot, *slot);
  host_pool_.give(std::move(host_slot));
  device_slots_[static_cast<std::size_t>(position)] = std::move(slot);
}

void Stages::device_batch(std::int64_t position) {
  if (!device_sampler_) {
    device_sampler_ = std::make_unique<kernels::cpu::Sampler>(data_.topology, job_.fanouts);
  }
  device_slots_[static_cast<std::size_t>(position)] = prepare(position, *device_sampler_, device_pool_);
}

void Stages::train(std::int64_t position) {
  auto& slot = device_slots_[static_cast<std::size_t>(position)];
  learn_(view_of(*slot), order_[static_cast<std::size_t>(position)]);
  device_pool_.give(std::move(slot));
}

StageWork Stages::work() {
  return {[this](std::int64_t position, int worker) { cpu_batch(position, worker); },
          [this](std::int64_t position) { transfer(position); },
          [this](std::int64_t position) { device_batch(position); },
          [this](std::int64_t position) { train(position); }};
}

const BatchData& Stages::host_slot(std::int64_t position) const {
  return *host_slots_[static_cast<std::size_t>(position)];
}

const BatchData& Stages::device_slot(std::int64_t position) const {
  return *device_slots_[static_cast<std::size_t>(position)];
}

}  // namespace gnomon::runtime
