#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>

#include "kernels/cpu/sample/sampler.h"
#include "runtime/device.h"
#include "runtime/reuse/pruned_sampler.h"

namespace gnomon::runtime {

/// The host's cores as the device: plan.device_threads threads share the work of each stage. Its batches are
/// in host slots: it uses the workers' slots in place, and nothing is copied.
class HostDevice final : public Device {
 public:
  explicit HostDevice(plan::Job job);

  c10::Device tensor_device() const override { return c10::Device(c10::kCPU); }
  bool has_link() const override { return false; }
  SlotPool& slots() override { return slots_; }
  void take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) override;
  DeviceBatch copy(Slot slot) override;
  DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) override;
  DeviceBatch prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                             const HotVertices& hot) override;
  std::vector<at::Tensor> take_tensors(const std::vector<at::Tensor>& tensors) override;
  void open_graph(std::shared_ptr<const PlacedGraph> graph) override { take_plan(plan_, std::move(graph)); }
  DeviceWorkPtr sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                       BatchData& data) override;
  void gather(DeviceBatch& batch) override;
  DeviceWorkPtr train(DeviceBatch batch, const Learn& learn) override;
  /// Zeros: in the host's memory there is nothing to cache.
  CacheUse take_cache_use() override { return {}; }
  /// Its name and the memory that this process may use.
  DeviceFacts measure() override;

 private:
  kernels::cpu::Sampler& sampler();
  PrunedSampler& pruned_sampler();
  kernels::cpu::BatchThreads threads() const;

  plan::Job job_;
  plan::Plan plan_;
  std::shared_ptr<const PlacedGraph> graph_;
  SlotPool slots_;
  /// By number of threads, created on first use and kept, as a new sampler's memory would be cold.
  std::map<int, std::unique_ptr<kernels::cpu::Sampler>> samplers_;
  std::map<int, std::unique_ptr<PrunedSampler>> pruned_samplers_;
};

}  // namespace gnomon::runtime
