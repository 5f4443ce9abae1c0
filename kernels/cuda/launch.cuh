#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cstddef>
#include <cub/device/device_scan.cuh>
#include <cuda/atomic>
#include <iterator>
#include <type_traits>

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
  static __host__ __device__ T add(T* at, T value) {
    return reference(at).fetch_add(value, ::cuda::std::memory_order_relaxed);
  }

 private:
  template <class T>
  static __host__ __device__ ::cuda::atomic_ref<T, ::cuda::thread_scope_device> reference(T* at) {
    return ::cuda::atomic_ref<T, ::cuda::thread_scope_device>(*at);
  }
};

inline constexpr int threads_per_block = 256;

/// The blocks that a multiprocessor must have registers for: Body::min_blocks, or 0 to leave it to the
/// compiler.
template <class Body, class = void>
inline constexpr int min_blocks = 0;
template <class Body>
inline constexpr int min_blocks<Body, std::void_t<decltype(Body::min_blocks)>> = Body::min_blocks;

/// A grid-stride loop, because the grid may be smaller than the range.
template <class Body>
__device__ void run_range(const Body& body, std::int64_t count) {
  const std::int64_t stride = std::int64_t{gridDim.x} * threads_per_block;
  for (std::int64_t i = std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x; i < count; i += stride) {
    body(i);
  }
}

template <class Body>
__global__ void __launch_bounds__(threads_per_block, min_blocks<Body>)
    run_body(const Body body, std::int64_t count) {
  run_range(body, count);
}

/// A body with arrays stays where the launch has put it: indexing would copy it to each thread's memory.
template <class Body>
__global__ void __launch_bounds__(threads_per_block, min_blocks<Body>)
    run_large_body(const __grid_constant__ Body body, std::int64_t count) {
  run_range(body, count);
}

template <class Body>
void Executor::for_each(std::int64_t count, const Body& body) {
  if (count <= 0) {
    return;
  }
  constexpr std::size_t large = 512;
  const std::int64_t blocks =
      std::min<std::int64_t>((count + threads_per_block - 1) / threads_per_block, max_blocks_);
  if constexpr (sizeof(Body) > large) {
    run_large_body<<<static_cast<unsigned>(blocks), threads_per_block, 0, stream_>>>(body, count);
  } else {
    run_body<<<static_cast<unsigned>(blocks), threads_per_block, 0, stream_>>>(body, count);
  }
  check(cudaGetLastError(), "launching a kernel");
}

/// An output iterator for CUB: assigning x to element i calls write(i, x).
template <class T, class Write>
class WriteIterator {
 public:
  struct Reference {
    Write write;
    std::int64_t index;
    __device__ T operator=(T value) const {
      write(index, value);
      return value;
    }
  };
  using iterator_category = std::random_access_iterator_tag;
  using difference_type = std::ptrdiff_t;
  using value_type = T;  // by which CUB tunes the scan
  using pointer = void;
  using reference = Reference;

  __host__ __device__ explicit WriteIterator(const Write& write, std::int64_t index = 0)
      : write_(write), index_(index) {}
  __host__ __device__ Reference operator*() const { return {write_, index_}; }
  __host__ __device__ Reference operator[](difference_type n) const { return {write_, index_ + n}; }
  __host__ __device__ WriteIterator operator+(difference_type n) const {
    return WriteIterator(write_, index_ + n);
  }
  __host__ __device__ WriteIterator& operator+=(difference_type n) {
    index_ += n;
    return *this;
  }

 private:
  Write write_;
  std::int64_t index_;
};

template <class Input, class Output>
void Executor::scan_iterators(Input input, Output output, std::int64_t count) {
  std::size_t bytes = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, input, output, count, stream_), "sizing a prefix sum");
  if (bytes > scan_bytes_) {
    scan_memory_ = allocate_(2 * bytes);
    scan_bytes_ = 2 * bytes;
  }
  check(cub::DeviceScan::ExclusiveSum(scan_memory_.get(), scan_bytes_, input, output, count, stream_),
        "launching a prefix sum");
}

template <class T>
void Executor::exclusive_sum(T* values, std::int64_t count) {
  scan_iterators(values, values, count);
}

template <class Value, class Write>
void Executor::scan(std::int64_t count, const Value& value, const Write& write) {
  if (count <= 0) {
    return;
  }
  using T = std::decay_t<decltype(value(std::int64_t{}))>;
  const thrust::counting_iterator<std::int64_t> indices(0);
  scan_iterators(thrust::make_transform_iterator(indices, value), WriteIterator<T, Write>(write), count);
}

}  // namespace gnomon::kernels::cuda
