#include "runtime/cuda/cuda_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "kernels/cuda/check.h"
#include "runtime/preparation/device_room.h"
#include "runtime/preparation/preparation.h"

namespace gnomon::runtime::cuda {
namespace {

using kernels::cuda::check;
namespace allocator = c10::cuda::CUDACachingAllocator;

class PinnedMemory final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable),
          "pinning " + std::to_string(bytes) + " bytes of host memory");
    return memory;
  }
  void do_deallocate(void* memory, std::size_t, std::size_t) override { cudaFreeHost(memory); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

/// Bypasses LibTorch's pool if caching is disabled, as compute-sanitizer requires to detect out-of-bounds
/// reads.
kernels::cuda::Allocate allocate_on(c10::cuda::CUDAStream stream) {
  if (std::getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") != nullptr) {
    return kernels::cuda::allocate_uncached;
  }
  return [stream](std::size_t bytes) {
    void* memory = allocator::raw_alloc_with_stream(std::max<std::size_t>(bytes, 1), stream.stream());
    return std::shared_ptr<void>(memory, [](void* allocated) { allocator::raw_delete(allocated); });
  };
}

void limit_memory(c10::DeviceIndex device, std::int64_t max_bytes) {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for the device's memory");
  const double share = max_bytes > 0 ? static_cast<double>(max_bytes) / static_cast<double>(all_bytes) : 1;
  allocator::setMemoryFraction(std::min(share, 1.0), device);
}

MemoryUse memory_use(c10::DeviceIndex device, std::int64_t max_bytes) {
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for the device's memory");
  const auto stats = allocator::getDeviceStats(device);
  constexpr auto aggregate = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  const std::int64_t own_bytes = stats.reserved_bytes[aggregate].current;
  const std::int64_t usable_bytes = static_cast<std::int64_t>(free_bytes) + own_bytes;
  return {stats.allocated_bytes[aggregate].peak,
          max_bytes > 0 ? std::min(usable_bytes, max_bytes) : usable_bytes};
}

void with_memory(const std::string& doing, const plan::Plan& plan, const std::function<void()>& act) {
  try {
    act();
  } catch (const c10::OutOfMemoryError& error) {
    // The first line of LibTorch's message contains the requested and the available bytes.
    const std::string text = error.what_without_backtrace();
    throw OutOfDeviceMemory("device memory", "does not suffice for " + doing + ": " +
                                                 text.substr(0, text.find("\n")) + " " +
                                                 what_lowers_memory(plan));
  }
}

std::pmr::memory_resource* pinned_memory() {
  static PinnedMemory memory;
  return &memory;
}

}  // namespace gnomon::runtime::cuda
