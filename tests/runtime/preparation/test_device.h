#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

#include "kernels/device/gather-inl.h"
#include "kernels/device/sampler-inl.h"
#include "kernels/device/stored-inl.h"
#include "nn/sparse/device_stored_features.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/device.h"
#include "runtime/preparation/preparation-inl.h"
#include "tests/kernels/host_executor.h"
#include "tests/kernels/sparse/host_sparse_kernels.h"

namespace gnomon::runtime {

/// A device's hardware played by the host: its bodies run in shuffled order, mappings are counted, and the
/// clock counts the calls of run().
struct TestHardware {
  using Executor = kernels::HostExecutor;

  at::Device tensor_device() const { return at::kCPU; }
  void run(const std::function<void()>& act) {
    ++runs;
    act();
  }
  void start(const std::function<void()>& act) { run(act); }
  Executor make_executor(double share) {
    shares.push_back(share);
    return Executor(1, ++seed);
  }
  /// A copy, so that only the mapping may be read.
  MappedBytes map(const void* data, std::size_t bytes) {
    ++mappings;
    auto copy = std::make_shared<std::vector<std::byte>>(bytes);
    std::memcpy(copy->data(), data, bytes);
    const void* address = copy->data();
    return {std::move(copy), address};
  }
  std::pmr::memory_resource* staging_memory() { return std::pmr::new_delete_resource(); }
  void release_memory() { ++releases; }
  MemoryUse memory_use() const { return memory; }
  double now_s() { return 1e-3 * static_cast<double>(runs); }

  MemoryUse memory{.peak_bytes = 0, .usable_bytes = 64 << 20};
  std::int64_t runs = 0;
  std::int64_t mappings = 0;
  std::int64_t releases = 0;
  std::vector<double> shares;
  std::uint64_t seed = 0;
};

static_assert(Hardware<TestHardware>);

/// The smallest Device with memory of its own.
class TestDevice final : public Device {
 public:
  explicit TestDevice(const plan::Job& job) : preparation_(hardware_, job, {}) {}

  c10::Device tensor_device() const override { return hardware_.tensor_device(); }
  bool has_link() const override { return true; }
  SlotPool& slots() override { return slots_; }
  void take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) override {
    plan_ = plan;
    preparation_.take_plan(plan, graph);
    graph_ = std::move(graph);
  }
  DeviceBatch copy(Slot slot) override {
    DeviceBatch batch;
    batch.tensors = view_of(*slot);
    batch.tensors.labels = batch.tensors.labels.clone();
    batch.tensors.degrees = batch.tensors.degrees.clone();
    for (auto& block : batch.tensors.blocks) {
      block = std::make_shared<nn::SparseBlock>(block->num_sources(), block->indptr().clone(),
                                                block->indices().clone());
    }
    if (batch.tensors.features.defined()) {
      batch.tensors.features = batch.tensors.features.clone();
    } else {
      batch.vertices = ids_of(*slot).clone();
    }
    batch.size = {std::ssize(slot->batch.vertices), slot->batch.num_edges(), slot->bytes()};
    return batch;
  }
  DeviceBatch prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) override {
    return preparation_.prepare(key, seeds);
  }
  DeviceBatch prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                             const HotVertices& hot) override {
    return preparation_.prepare_pruned(key, seeds, hot);
  }
  std::vector<at::Tensor> take_tensors(const std::vector<at::Tensor>& tensors) override {
    std::vector<at::Tensor> taken;
    for (const auto& tensor : tensors) {
      taken.push_back(tensor.clone());
    }
    return taken;
  }
  DeviceWorkPtr sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                       BatchData& data) override {
    preparation_.sample(key, seeds, data);
    return {};
  }
  void gather(DeviceBatch& batch) override { preparation_.gather(batch); }
  DeviceWorkPtr train(DeviceBatch batch, const Learn& learn) override {
    if (plan_.fused) {
      const auto& features = graph_->graph.features;
      batch.tensors.stored = std::make_shared<const nn::DeviceStoredFeatures<kernels::HostLaunches>>(
          preparation_.lend_rows(batch), features.type, features.columns, batch.vertices);
    }
    learn(batch.tensors);
    return {};
  }
  bool fill_due_caches() override {
    const bool is_due = preparation_.is_cache_due();
    preparation_.fill_due_cache();
    return is_due;
  }
  CacheUse take_cache_use() override { return preparation_.take_cache_use(); }
  DeviceFacts measure() override {
    return {.name = "test", .memory_bytes = 64 << 20, .link_bandwidth_bytes_per_s = 1e9};
  }

 private:
  plan::Plan plan_;
  std::shared_ptr<const PlacedGraph> graph_;
  SlotPool slots_;
  TestHardware hardware_;
  Preparation<TestHardware> preparation_;
};

}  // namespace gnomon::runtime
