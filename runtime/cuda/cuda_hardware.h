#pragma once

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <utility>

#include "kernels/cuda/executor.h"
#include "runtime/preparation/hardware.h"

namespace gnomon::runtime::cuda {

/// The first GPU as Preparation uses it: one stream, and memory of LibTorch's caching allocator.
class CudaHardware {
 public:
  using Executor = kernels::cuda::Executor;

  /// memory_use() is limited to `max_bytes` of the device; 0: no limit.
  CudaHardware(c10::cuda::CUDAStream stream, std::shared_ptr<const std::int64_t> max_bytes)
      : stream_(stream), max_bytes_(std::move(max_bytes)) {}

  at::Device tensor_device() const { return stream_.device(); }
  /// start(), and waits for the stream.
  void run(const std::function<void()>& act);
  /// The stream is the current one while `act` is called. Waits for it after an exception.
  void start(const std::function<void()>& act);
  Executor make_executor(double share);
  MappedBytes map(const void* data, std::size_t bytes);
  std::pmr::memory_resource* staging_memory();
  void release_memory();
  MemoryUse memory_use();
  double now_s();

 private:
  c10::cuda::CUDAStream stream_;
  std::shared_ptr<const std::int64_t> max_bytes_;
};

static_assert(kernels::device::Executor<kernels::cuda::Executor>);
static_assert(Hardware<CudaHardware>);

}  // namespace gnomon::runtime::cuda
