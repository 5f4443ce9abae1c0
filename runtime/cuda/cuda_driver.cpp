#include "runtime/cuda/cuda_driver.h"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "kernels/cuda/check.h"
#include "nn/cuda/kernels.h"
#include "runtime/cuda/cuda_memory.h"

namespace gnomon::runtime::cuda {

using kernels::cuda::check;

static_assert(Driver<CudaDriver>);

namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

/// Initialises LibTorch's allocator, which is used before any tensor operation.
CudaDriver::CudaDriver() {
  at::globalContext().lazyInitDevice(c10::kCUDA);
  c10::cuda::CUDACachingAllocator::resetPeakStats(0);
  set_clock();
}

CudaDriver::Stream CudaDriver::make_stream(bool high_priority) {
  return c10::cuda::getStreamFromPool(high_priority, 0);
}

void CudaDriver::wait_for_all() {
  const c10::cuda::CUDAGuard guard(0);
  check(cudaDeviceSynchronize(), "waiting for the device");
  set_clock();
}

/// Events only give times relative to other events. Synchronises with the host's clock: of several attempts,
/// the one with the shortest round trip counts.
void CudaDriver::set_clock() {
  constexpr int attempts = 5;
  const auto stream = c10::cuda::getDefaultCUDAStream(0);
  double shortest_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < attempts; ++i) {
    const double begin_s = now_s();
    auto event = mark(stream);
    wait_for(event);
    const double end_s = now_s();
    if (end_s - begin_s < shortest_s) {
      shortest_s = end_s - begin_s;
      clock_ = std::move(event);
      clock_s_ = (begin_s + end_s) / 2;
    }
  }
}

CudaDriver::Event CudaDriver::mark(const Stream& stream) {
  cudaEvent_t made = nullptr;
  check(cudaEventCreate(&made), "making an event");
  Event event(made, [](cudaEvent_t owned) { cudaEventDestroy(owned); });
  check(cudaEventRecord(made, stream.stream()), "marking a stream");
  return event;
}

bool CudaDriver::has_passed(const Event& event) noexcept {
  const cudaError_t error = cudaEventQuery(event.get());
  if (error == cudaErrorNotReady) {
    (void)cudaGetLastError();  // otherwise the next launch would report it
  }
  return error == cudaSuccess;
}

void CudaDriver::wait_for(const Event& event) {
  check(cudaEventSynchronize(event.get()), "waiting for the device");
}

void CudaDriver::order(const Stream& stream, const Event& event) {
  check(cudaStreamWaitEvent(stream.stream(), event.get(), 0), "ordering streams");
}

double CudaDriver::passed_at_s(const Event& event) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, clock_.get(), event.get()), "reading an event's time");
  return clock_s_ + 1e-3 * static_cast<double>(milliseconds);
}

std::pmr::memory_resource* CudaDriver::slot_memory() { return pinned_memory(); }

std::int64_t CudaDriver::peak_bytes() const {
  constexpr auto aggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const std::int64_t latest =
      c10::cuda::CUDACachingAllocator::getDeviceStats(0).allocated_bytes[aggregate].peak;
  return std::max(earlier_peak_bytes_, latest);
}

/// Frees cuBLAS's workspaces first, which LibTorch keeps for every stream that was ever used: 32 MiB each.
/// What was evaluated before does not count for what a plan's training needs.
void CudaDriver::limit_memory(std::int64_t max_bytes) {
  *max_bytes_ = max_bytes;
  earlier_peak_bytes_ = peak_bytes();
  c10::cuda::CUDACachingAllocator::resetPeakStats(0);
  at::cuda::clearCublasWorkspaces();
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
