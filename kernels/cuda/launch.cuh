#pragma once

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <cuda/atomic>

#include "kernels/cuda/check.h"
#include "kernels/cuda/executor.h"

// The launches of an executor's bodies as kernels, for .cu files.

namespace gnomon::kernels::cuda {

/// Relaxed atomic operations of device scope.
struct Atomics {
  template <class T>
  static __host__ __device__ T load(const T* at) {
    return reference(const_cast<T*>(at)).load(::cuda::std::memory_order_relaxed);
  }
  template <class T>
  static __host__ __device__ T compare_exchange(T* at, T expected, T desired) {
    reference(at).compare_exchange_strong(expected, desired, ::cuda::std::memory_order_relaxed);
    return expected;
  }
  template <class T>
  static __host__ __device__ void min(T* at, T value) {
    reference(at).fetch_min(value, ::cuda::std::memory_order_relaxed);
  }
  template <class T>
  static __host__ __device__ void add(T* at, T value) {
    reference(at).fetch_add(value, ::cuda::std::memory_order_relaxed);
  }

 private:
  template <class T>
  static __host__ __device__ ::cuda::atomic_ref<T, ::cuda::thread_scope_device> reference(T* at) {
    return ::cuda::atomic_ref<T, ::cuda::thread_scope_device>(*at);
  }
};

inline constexpr int threads_per_block = 256;

/// A grid-stride loop, because the grid may be smaller than the range.
template <class Body>
__global__ void __launch_bounds__(threads_per_block) run_body(const Body body, std::int64_t count) {
  const std::int64_t stride = std::int64_t{gridDim.x} * threads_per_block;
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x; i < count; i += stride) {
    body(i);
  }
}

template <class Body>
void Executor::for_each(std::int64_t count, const Body& body) {
  if (count <= 0) {
    return;
  }
  const std::int64_t blocks = (count + threads_per_block - 1) / threads_per_block;
  run_body<<<static_cast<unsigned>(std::min<std::int64_t>(blocks, max_blocks_)), threads_per_block, 0,
             stream_>>>(body, count);
  check(cudaGetLastError(), "launching a kernel");
}

template <class T>
void Executor::exclusive_sum(T* values, std::int64_t count) {
  std::size_t bytes = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, values, values, count, stream_), "sizing a prefix sum");
  if (bytes > scan_bytes_) {
    scan_memory_ = allocate_(2 * bytes);
    scan_bytes_ = 2 * bytes;
  }
  check(cub::DeviceScan::ExclusiveSum(scan_memory_.get(), scan_bytes_, values, values, count, stream_),
        "launching a prefix sum");
}

}  // namespace gnomon::kernels::cuda
