#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace gnomon::kernels::cuda {

struct Atomics;

/// Allocates device memory that may be used on the executor's stream at once, 256-byte aligned. Throws on
/// failure.
using Allocate = std::function<std::shared_ptr<void>(std::size_t bytes)>;

/// Allocates memory of the current device with cudaMalloc. Freeing it synchronises with the device. Throws
/// base::Failure, which states the number of bytes.
std::shared_ptr<void> allocate_uncached(std::size_t bytes);

/// Runs bodies (kernels/device/executor.h) on one stream of the current device, one kernel launch each. Its
/// member templates are defined in kernels/cuda/launch.cuh, for .cu files. Every member throws base::Failure
/// with the CUDA runtime's message.
class Executor {
 public:
  using Atomics = cuda::Atomics;

  /// `share` in (0, 1] limits the share of the device's thread slots that its kernels occupy; the hardware
  /// spreads their blocks over all multiprocessors.
  explicit Executor(cudaStream_t stream, Allocate allocate = allocate_uncached, double share = 1);

  cudaStream_t stream() const { return stream_; }

  std::shared_ptr<void> allocate(std::size_t bytes) { return allocate_(bytes); }
  template <class Body>
  void for_each(std::int64_t count, const Body& body);
  template <class T>
  void exclusive_sum(T* values, std::int64_t count);
  template <class Value, class Write>
  void scan(std::int64_t count, const Value& value, const Write& write);
  void fill(void* memory, int byte, std::size_t bytes);
  void upload(void* to_device, const void* from_host, std::size_t bytes);
  void download(void* to_host, const void* from_device, std::size_t bytes);
  void start_download(const void* from_device, std::size_t bytes);
  void finish_download(void* to_host, std::size_t bytes);

 private:
  struct StartedDownload;

  template <class Input, class Output>
  void scan_iterators(Input input, Output output, std::int64_t count);

  cudaStream_t stream_;
  Allocate allocate_;
  int max_blocks_ = 1;  ///< per kernel launch
  std::shared_ptr<void> scan_memory_;
  std::size_t scan_bytes_ = 0;
  std::shared_ptr<StartedDownload> started_;  ///< created on first use
};

}  // namespace gnomon::kernels::cuda
