#pragma once

#include <ATen/core/Tensor.h>
#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <functional>

#include "kernels/cuda/executor.h"
#include "runtime/preparation/hardware.h"

namespace gnomon::runtime::cuda {

/// The first GPU as Preparation uses it: one stream, and memory of LibTorch's caching allocator.
class CudaHardware {
 public:
  using Executor = kernels::cuda::Executor;

  explicit CudaHardware(c10::cuda::CUDAStream stream) : stream_(stream) {}

  /// Limits memory_use() to `max_bytes`; 0: no limit.
  void limit(std::int64_t max_bytes) { max_bytes_ = max_bytes; }
  c10::cuda::CUDAStream stream() const { return stream_; }

  at::Device tensor_device() const { return stream_.device(); }
  /// The stream is the current one while `act` is called.
  void run(const std::function<void()>& act);
  Executor make_executor(double share);
  MappedBytes map(const void* data, std::size_t bytes);
  MemoryUse memory_use();
  double now_s();

 private:
  c10::cuda::CUDAStream stream_;
  std::int64_t max_bytes_ = 0;
};

static_assert(kernels::device::Executor<kernels::cuda::Executor>);
static_assert(Hardware<CudaHardware>);

}  // namespace gnomon::runtime::cuda
