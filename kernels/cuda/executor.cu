#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "kernels/cuda/check.h"
#include "kernels/cuda/executor.h"
#include "kernels/cuda/launch.cuh"

namespace gnomon::kernels::cuda {
namespace {

/// Returns the number of thread blocks that fill the current device's multiprocessors.
int blocks_of_device() {
  int device = 0;
  check(cudaGetDevice(&device), "querying the current device");
  int processors = 0;
  int threads = 0;
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
        "querying the number of multiprocessors");
  check(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device),
        "querying the threads per multiprocessor");
  return processors * (threads / threads_per_block);
}

}  // namespace

/// Pinned memory, into which the device copies while the host goes on, and the mark after the copy.
struct Executor::StartedDownload {
  explicit StartedDownload(std::size_t size) : bytes(size) {
    void* pinned = nullptr;
    check(cudaMallocHost(&pinned, bytes), "pinning memory");
    memory = {pinned, [](void* owned) { cudaFreeHost(owned); }};
    cudaEvent_t made = nullptr;
    check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming), "making an event");
    copied = {made, [](cudaEvent_t owned) { cudaEventDestroy(owned); }};
  }

  std::size_t bytes;
  std::shared_ptr<void> memory;
  std::shared_ptr<CUevent_st> copied;
};

std::shared_ptr<void> allocate_uncached(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<std::size_t>(bytes, 1)),
        "allocating " + std::to_string(bytes) + " bytes of device memory");
  return {memory, [](void* allocated) { cudaFree(allocated); }};
}

Executor::Executor(cudaStream_t stream, Allocate allocate, double share)
    : stream_(stream),
      allocate_(std::move(allocate)),
      max_blocks_(std::max(1, static_cast<int>(std::lround(share * blocks_of_device())))) {}

void Executor::fill(void* memory, int byte, std::size_t bytes) {
  check(cudaMemsetAsync(memory, byte, bytes, stream_), "setting device memory");
}

void Executor::upload(void* to_device, const void* from_host, std::size_t bytes) {
  check(cudaMemcpyAsync(to_device, from_host, bytes, cudaMemcpyHostToDevice, stream_),
        "copying to the device");
}

void Executor::download(void* to_host, const void* from_device, std::size_t bytes) {
  check(cudaMemcpyAsync(to_host, from_device, bytes, cudaMemcpyDeviceToHost, stream_),
        "copying from the device");
  check(cudaStreamSynchronize(stream_), "waiting for the device");
}

void Executor::start_download(const void* from_device, std::size_t bytes) {
  if (!started_ || started_->bytes < bytes) {
    started_ = std::make_shared<StartedDownload>(bytes);
  }
  check(cudaMemcpyAsync(started_->memory.get(), from_device, bytes, cudaMemcpyDeviceToHost, stream_),
        "copying from the device");
  check(cudaEventRecord(started_->copied.get(), stream_), "marking a stream");
}

void Executor::finish_download(void* to_host, std::size_t bytes) {
  check(cudaEventSynchronize(started_->copied.get()), "waiting for the device");
  std::memcpy(to_host, started_->memory.get(), bytes);
}

}  // namespace gnomon::kernels::cuda
