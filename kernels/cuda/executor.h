#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace gnomon::kernels::cuda {

struct Atomics;

/// Gives device memory that is ready on the stream it will be used on; 256-byte aligned; throws when there is
/// none.
using Allocate = std::function<std::shared_ptr<void>(std::size_t bytes)>;

/// Plain cudaMalloc of the current device; freeing waits for it. Throws base::Failure that says how many
/// bytes are missing.
std::shared_ptr<void> allocate_plainly(std::size_t bytes);

/// Runs bodies (kernels/device/executor.h) on one stream of the current device, one kernel each. The members
/// that are templates are defined in kernels/cuda/launch.cuh, for .cu files. Every member throws
/// base::Failure with the CUDA runtime's words.
class Executor {
 public:
  using Atomics = cuda::Atomics;

  /// `share` of the device's multiprocessors, in (0, 1], is what its kernels occupy at most.
  explicit Executor(cudaStream_t stream, Allocate allocate = allocate_plainly, double share = 1);

  cudaStream_t stream() const { return stream_; }

  std::shared_ptr<void> allocate(std::size_t bytes) { return allocate_(bytes); }
  template <class Body>
  void for_each(std::int64_t count, const Body& body);
  template <class T>
  void exclusive_sum(T* values, std::int64_t count);
  void fill(void* memory, int byte, std::size_t bytes);
  void upload(void* to_device, const void* from_host, std::size_t bytes);
  void download(void* to_host, const void* from_device, std::size_t bytes);

 private:
  cudaStream_t stream_;
  Allocate allocate_;
  int most_blocks_ = 1;  ///< of a kernel
  std::shared_ptr<void> scan_memory_;
  std::size_t scan_bytes_ = 0;
};

}  // namespace gnomon::kernels::cuda
