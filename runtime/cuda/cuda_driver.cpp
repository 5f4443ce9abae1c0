#include "runtime/cuda/cuda_driver.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <array>
#include <utility>

#include "kernels/cuda/check.h"
#include "nn/cuda/kernels.h"
#include "runtime/cuda/cuda_memory.h"

namespace gnomon::runtime::cuda {

using kernels::cuda::check;

static_assert(Driver<CudaDriver>);

/// LibTorch's allocator serves us before any tensor's operation.
CudaDriver::CudaDriver() { at::globalContext().lazyInitDevice(c10::kCUDA); }

CudaDriver::Stream CudaDriver::make_stream(bool high_priority) {
  return c10::cuda::getStreamFromPool(high_priority, 0);
}

void CudaDriver::wait_for_all() {
  const c10::cuda::CUDAGuard guard(0);
  check(cudaDeviceSynchronize(), "waiting for the device");
}

std::pmr::memory_resource* CudaDriver::slot_memory() { return pinned_memory(); }

void CudaDriver::limit_memory(std::int64_t max_bytes) {
  *max_bytes_ = max_bytes;
  cuda::limit_memory(0, max_bytes);
}

void CudaDriver::with_memory(const std::string& doing, const plan::Plan& plan,
                             const std::function<void()>& act) {
  cuda::with_memory(doing, plan, act);
}

nn::StoredFeaturesPtr CudaDriver::stored_features(const kernels::device::Rows& rows,
                                                  const graph::Features& features, at::Tensor vertices) {
  return nn::cuda_stored_features(rows, features.type, features.columns, std::move(vertices));
}

void CudaDriver::copy_within(const Stream& stream, void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream.stream()),
        "copying within the device");
}

DeviceFacts CudaDriver::facts() {
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

}  // namespace gnomon::runtime::cuda
