#pragma once

#include <ATen/core/Tensor.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>

#include "kernels/device/executor_concept.h"
#include "runtime/preparation/device_graph.h"

namespace gnomon::runtime {

/// A device's memory in bytes.
struct MemoryUse {
  std::int64_t peak_bytes = 0;    ///< allocated at the same time so far
  std::int64_t usable_bytes = 0;  ///< that training may use, with what it has allocated
};

/// The operations that Preparation requires of a device with memory of its own.
///
/// - tensor_device: the LibTorch device of tensors in its memory.
/// - run: calls a function whose executors enqueue work on the device, and waits until all of that work is
///   done. Calls may be nested.
/// - start: as run(), but need not wait unless `act` throws. Work that is started later runs after it.
/// - make_executor: runs bodies on at most this share of the device's thread slots, in (0, 1].
/// - map: host memory as the device reads it over the link; the memory must outlive the mapping.
/// - staging_memory: host memory from which uploads need no other copy. Uploads may read it until the device
///   is done with them.
/// - release_memory: returns cached free memory to the device, so that large data fit in one piece.
/// - memory_use: after release_memory.
/// - now_s: seconds of a monotonic clock.
template <class H>
concept Hardware = kernels::device::Executor<typename H::Executor> &&
    requires(H& hardware, double share, const void* data, std::size_t bytes,
             const std::function<void()>& act) {
  { hardware.tensor_device() } -> std::convertible_to<at::Device>;
  hardware.run(act);
  hardware.start(act);
  { hardware.make_executor(share) } -> std::same_as<typename H::Executor>;
  { hardware.map(data, bytes) } -> std::same_as<MappedBytes>;
  { hardware.staging_memory() } -> std::same_as<std::pmr::memory_resource*>;
  hardware.release_memory();
  { hardware.memory_use() } -> std::same_as<MemoryUse>;
  { hardware.now_s() } -> std::convertible_to<double>;
};

}  // namespace gnomon::runtime
