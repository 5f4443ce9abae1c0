#include "runtime/cuda/cuda_device.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <array>
#include <utility>

#include "base/error.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/gather.h"
#include "kernels/cuda/sampler.h"
#include "nn/cuda/kernels.h"
#include "runtime/batch/batch_tensors.h"
#include "runtime/cache/preferred_rows.h"
#include "runtime/cuda/cuda_memory.h"
#include "runtime/cuda/open_cuda_device.h"
#include "runtime/preparation/complete_rows-inl.h"
#include "runtime/preparation/preparation-inl.h"
#include "runtime/speed/bandwidth.h"

namespace gnomon::runtime::cuda {
namespace {

using c10::cuda::CUDAStream;
using c10::cuda::CUDAStreamGuard;
using kernels::cuda::check;

CUDAStream new_stream(bool high_priority) { return c10::cuda::getStreamFromPool(high_priority, 0); }

/// Name, multiprocessors and link, as the driver tells them.
DeviceFacts facts_of_driver() {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "asking for the device's properties");
  std::array<char, 32> address{};
  check(cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), 0),
        "asking for the device's address");
  DeviceFacts facts;
  facts.name = properties.name;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.link = base::pcie_link(address.data());
  return facts;
}

}  // namespace

CudaDevice::CudaDevice(const plan::Job& job, const DeviceOptions& options, base::Progress progress)
    : options_(options),
      slots_(pinned_memory()),
      copy_stream_(new_stream(false)),
      hardware_(new_stream(false)),
      train_stream_(hardware_.stream()),
      copies_(copy_stream_),
      preparation_(hardware_, job, std::move(progress)) {
  at::globalContext().lazyInitDevice(c10::kCUDA);  // its allocator serves us before any tensor's operation
}

CudaDevice::~CudaDevice() {
  const c10::cuda::CUDAGuard guard(0);
  (void)cudaDeviceSynchronize();  // nothing reads memory that is freed after this
}

std::int64_t CudaDevice::max_bytes() const {
  return smaller_limit(plan_.device_memory_bytes, options_.max_bytes);
}

void CudaDevice::with_plan_memory(const std::string& doing, const std::function<void()>& act) const {
  with_memory(doing, plan_, act);
}

void CudaDevice::take_plan(const plan::Plan& plan, std::shared_ptr<const PlacedGraph> graph) {
  const bool is_beside = train_stream_ != hardware_.stream();
  if (plan.prepares_beside_training() != is_beside) {
    train_stream_ = is_beside ? hardware_.stream() : new_stream(true);
  }
  plan_ = plan;
  limit_memory(0, max_bytes());
  hardware_.limit(max_bytes());
  with_plan_memory("placing the graph", [&] { preparation_.take_plan(plan, graph); });
  graph_ = std::move(graph);
  rows_ = leaves_out_cached_rows(plan) ? preparation_.rows() : kernels::device::Rows{};
}

DeviceBatch CudaDevice::copy(Slot slot) {
  DeviceBatch batch;
  const bool is_split = slot->split.is_used();
  const bool lacks_features = slot->features.size() == 0 && !is_split;
  with_plan_memory("copying a mini-batch", [&] {
    const CUDAStreamGuard guard(copy_stream_);
    batch.tensors = nn::on_device(view_of(*slot), tensor_device());
    if (lacks_features) {
      batch.vertices = ids_of(*slot).to(tensor_device());
    }
    copy_stream_.synchronize();
    if (is_split) {
      use_of_copies_.rows += std::ssize(slot->split.places);
      use_of_copies_.row_hits += std::ssize(slot->split.places) - std::ssize(slot->split.gathered);
      batch.tensors.features = complete_rows(copies_, *slot, rows_);
    }
  });
  batch.size.vertices = std::ssize(slot->batch.vertices);
  batch.size.edges = slot->batch.num_edges();
  batch.size.bytes = slot->bytes() - (lacks_features ? 0 : 8 * batch.size.vertices);
  return batch;
}

DeviceBatch CudaDevice::prepare(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds) {
  DeviceBatch batch;
  with_plan_memory("preparing a mini-batch", [&] { batch = preparation_.prepare(key, seeds); });
  return batch;
}

DeviceBatch CudaDevice::prepare_pruned(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                                       const HotVertices& hot) {
  DeviceBatch batch;
  with_plan_memory("preparing a mini-batch", [&] { batch = preparation_.prepare_pruned(key, seeds, hot); });
  return batch;
}

std::vector<at::Tensor> CudaDevice::take_tensors(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> taken;
  with_plan_memory("copying embeddings", [&] {
    const CUDAStreamGuard guard(copy_stream_);
    for (const auto& tensor : tensors) {
      taken.push_back(tensor.to(tensor_device()));
    }
    copy_stream_.synchronize();
  });
  return taken;
}

void CudaDevice::sample(const kernels::BatchKey& key, std::span<const graph::VertexId> seeds,
                        BatchData& data) {
  with_plan_memory("sampling a mini-batch", [&] { preparation_.sample(key, seeds, data); });
}

void CudaDevice::gather(DeviceBatch& batch) {
  with_plan_memory("gathering features", [&] { preparation_.gather(batch); });
}

void CudaDevice::train(DeviceBatch batch, const Learn& learn) {
  with_plan_memory("training", [&] {
    if (plan_.fused) {
      const auto& features = graph_->graph.features;
      batch.tensors.stored = nn::cuda_stored_features(preparation_.lend_rows(batch), features.type,
                                                      features.columns, batch.vertices);
    }
    const CUDAStreamGuard guard(train_stream_);
    learn(batch.tensors);
    train_stream_.synchronize();
  });
  if (preparation_.is_cache_due()) {
    with_plan_memory("filling the cache", [&] { preparation_.fill_due_cache(); });
  }
}

at::Tensor CudaDevice::pull(const std::function<at::Tensor()>& gather) {
  return gather().to(tensor_device());
}

at::Tensor CudaDevice::push(const at::Tensor& rows) { return rows.cpu(); }

CacheUse CudaDevice::take_cache_use() {
  auto use = preparation_.take_cache_use();
  use += std::exchange(use_of_copies_, {});
  return use;
}

DeviceFacts CudaDevice::measure() {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  auto facts = facts_of_driver();
  const MemoryUse memory = memory_use(0, max_bytes());  // before the measurements allocate any
  facts.memory_bytes = static_cast<double>(memory.usable_bytes);
  facts.peak_bytes = static_cast<double>(memory.peak_bytes);
  facts.link_saturation_share = preparation_.measure_link_saturation();

  CudaHardware copies(copy_stream_);
  auto executor = copies.make_executor(1);
  const std::shared_ptr<void> host(pinned_memory()->allocate(bytes),
                                   [](void* pinned) { pinned_memory()->deallocate(pinned, bytes); });
  const auto first = executor.allocate(bytes);
  const auto second = executor.allocate(bytes);
  facts.link_bandwidth_bytes_per_s = best_bandwidth(
      bytes, [&] { return seconds_of(copies, [&] { executor.upload(first.get(), host.get(), bytes); }); });
  facts.memory_bandwidth_bytes_per_s =
      2 * best_bandwidth(bytes, [&] {
        return seconds_of(copies, [&] {
          check(cudaMemcpyAsync(second.get(), first.get(), bytes, cudaMemcpyDeviceToDevice,
                                copy_stream_.stream()),
                "copying within the device");
        });
      });
  return facts;
}

}  // namespace gnomon::runtime::cuda

namespace gnomon::runtime {

std::string why_no_cuda_device() {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess) {
    return cudaGetErrorString(error);
  }
  return devices > 0 ? "" : "no CUDA device";
}

std::unique_ptr<Device> open_cuda_device(const plan::Job& job, const DeviceOptions& options,
                                         const base::Progress& progress) {
  return std::make_unique<cuda::CudaDevice>(job, options, progress);
}

}  // namespace gnomon::runtime
