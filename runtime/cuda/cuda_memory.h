#pragma once

#include <c10/cuda/CUDAStream.h>

#include <cstdint>
#include <functional>
#include <memory_resource>
#include <string>

#include "kernels/cuda/executor.h"
#include "plan/plan.h"
#include "runtime/preparation/hardware.h"

namespace gnomon::runtime::cuda {

/// Device memory from LibTorch's caching allocator, ready on `stream`.
kernels::cuda::Allocate allocate_on(c10::cuda::CUDAStream stream);

/// Limits LibTorch's allocator to `max_bytes` of the device; 0: all of it.
void limit_memory(c10::DeviceIndex device, std::int64_t max_bytes);

/// The bytes of a device's memory that LibTorch's allocator has allocated and may use.
MemoryUse memory_use(c10::DeviceIndex device, std::int64_t max_bytes);

/// Calls `act`. If the device's memory does not suffice for it, throws base::Failure with what was being
/// done, the missing bytes, and the plan's fields that lower the need.
void with_memory(const std::string& doing, const plan::Plan& plan, const std::function<void()>& act);

/// Pinned host memory, from which copies to a device need no staging. Lives as long as the process.
std::pmr::memory_resource* pinned_memory();

}  // namespace gnomon::runtime::cuda
