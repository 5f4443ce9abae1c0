#include "runtime/cuda/cuda_hardware.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <chrono>

#include "kernels/cuda/mapped_memory.h"
#include "runtime/cuda/cuda_memory.h"

namespace gnomon::runtime::cuda {

void CudaHardware::run(const std::function<void()>& act) {
  start(act);
  if (!stream_.query()) {  // a download may have waited already
    stream_.synchronize();
  }
}

void CudaHardware::start(const std::function<void()>& act) {
  const c10::cuda::CUDAStreamGuard guard(stream_);
  try {
    act();
  } catch (...) {
    (void)cudaStreamSynchronize(stream_.stream());
    throw;
  }
}

CudaHardware::Executor CudaHardware::make_executor(double share) {
  return Executor(stream_.stream(), allocate_on(stream_), share);
}

MappedBytes CudaHardware::map(const void* data, std::size_t bytes) {
  const auto mapped = kernels::cuda::map_memory(data, bytes);
  return {mapped.owner, mapped.device_data, mapped.is_copy ? static_cast<std::int64_t>(bytes) : 0};
}

std::pmr::memory_resource* CudaHardware::staging_memory() { return pinned_memory(); }

void CudaHardware::release_memory() { c10::cuda::CUDACachingAllocator::emptyCache(); }

MemoryUse CudaHardware::memory_use() {
  release_memory();
  return cuda::memory_use(stream_.device_index(), *max_bytes_);
}

double CudaHardware::now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace gnomon::runtime::cuda
