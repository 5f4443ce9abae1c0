#include "runtime/host/host_device.h"

#include <utility>

#include "base/usable.h"
#include "nn/dense/chunks.h"
#include "nn/parallel.h"
#include "nn/sparse/sparse_features.h"
#include "runtime/batch/batch_tensors.h"

namespace gnomon::runtime {

HostDevice::HostDevice(plan::Job job) : job_(std::move(job)) {}

void HostDevice::take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) {
  if (graph != graph_) {
    samplers_.clear();
    pruned_samplers_.clear();
    graph_ = std::move(graph);
  }
  plan_ = plan;
}

kernels::cpu::BatchThreads HostDevice::threads() const {
  return {plan_.device_threads, {}, &nn::run_on_tensor_threads};
}

kernels::cpu::Sampler& HostDevice::sampler() {
  auto& sampler = samplers_[plan_.device_threads];
  if (!sampler) {
    sampler = std::make_unique<kernels::cpu::Sampler>(graph_->topology, job_.fanouts,
                                                      kernels::cpu::EdgeIds::omit, threads());
  }
  return *sampler;
}

PrunedSampler& HostDevice::pruned_sampler() {
  auto& sampler = pruned_samplers_[plan_.device_threads];
  if (!sampler) {
    sampler = std::make_unique<PrunedSampler>(graph_->topology, job_, threads());
  }
  return *sampler;
}

DeviceBatch HostDevice::copy(Slot slot) { return in_slot(std::move(slot)); }

DeviceBatch HostDevice::prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) {
  auto slot = slots_.take();
  if (plan_.fused) {
    sample_batch(graph_->graph, sampler(), key, seeds, *slot);
  } else {
    prepare_batch(graph_->graph, sampler(), key, seeds, *slot);
  }
  return in_slot(std::move(slot));
}

DeviceBatch HostDevice::prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                                       const HotVertices& hot) {
  auto slot = slots_.take();
  auto bottom = pruned_sampler().prepare(graph_->graph, key, seeds, hot, *slot);
  auto batch = in_slot(std::move(slot));
  batch.bottom = std::move(bottom);
  return batch;
}

std::vector<at::Tensor> HostDevice::take_tensors(const std::vector<at::Tensor>& tensors) { return tensors; }

DeviceWorkPtr HostDevice::sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                                 BatchData& data) {
  sample_batch(graph_->graph, sampler(), key, seeds, data);
  return {};
}

void HostDevice::gather(DeviceBatch& batch) {
  gather_features(graph_->graph, sampler().team(), *batch.slot);
  batch.size.bytes = batch.slot->bytes();
}

DeviceWorkPtr HostDevice::train(DeviceBatch batch, const Learn& learn) {
  auto tensors = tensors_of(batch);
  if (plan_.fused && graph_->graph.features.is_sparse()) {
    const nn::AtenThreadsGuard threads(plan_.device_threads);
    tensors.sparse = nn::gathered_rows(graph_->graph.features, batch.slot->batch.vertices);
  } else if (plan_.fused) {
    tensors.stored = nn::stored_features(graph_->graph.features, ids_of(*batch.slot));
  }
  learn(tensors);
  return {};
}

DeviceFacts HostDevice::measure() { return {.name = "host", .memory_bytes = base::usable_memory_bytes()}; }

}  // namespace gnomon::runtime
