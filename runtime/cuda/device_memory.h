#pragma once

#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <functional>
#include <memory_resource>
#include <string>

#include "kernels/cuda/executor.h"
#include "plan/plan.h"

namespace gnomon::runtime::cuda {

/// Device memory of LibTorch's caching allocator, ready on `stream`.
kernels::cuda::Allocate allocate_on(c10::cuda::CUDAStream stream);

/// Lets LibTorch's allocator take no more than so many bytes of the device; 0: all there are.
void limit_memory(c10::DeviceIndex device, std::int64_t most_bytes);

/// Bytes of a device, as far as they are allocated at the peak, and as far as training may use them.
struct MemoryUse {
  std::int64_t peak_bytes = 0;
  std::int64_t usable_bytes = 0;
};
MemoryUse memory_use(c10::DeviceIndex device, std::int64_t most_bytes);

/// Calls `act`; where the device's memory does not suffice for it, throws base::Failure that says what was
/// done, what is missing, and which fields of the plan lower the need.
void with_memory(const std::string& doing, const plan::Plan& plan, const std::function<void()>& act);

/// Pinned host memory, of LibTorch's own cache.
std::pmr::memory_resource* pinned_memory();

}  // namespace gnomon::runtime::cuda
