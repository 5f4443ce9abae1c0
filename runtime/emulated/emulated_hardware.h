#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <utility>

#include "runtime/emulated/emulated_executor.h"
#include "runtime/preparation/hardware.h"

namespace gnomon::runtime::emulated {

/// An emulated device's implementation of the concept Hardware.
class EmulatedHardware {
 public:
  using Executor = EmulatedExecutor;

  /// `link` and `clock` must outlive it.
  EmulatedHardware(std::shared_ptr<DeviceArena> arena, SharedLink& link, DeviceClock& clock)
      : queue_{.arena = std::move(arena), .link = link}, clock_(clock) {}

  /// Sets the number of threads that stand for the device's multiprocessors.
  void use_threads(int threads) { queue_.threads = threads; }

  at::Device tensor_device() const { return at::kCPU; }
  void run(const std::function<void()>& act);
  void start(const std::function<void()>& act) { run(act); }
  Executor make_executor(double share) { return {queue_, share}; }
  /// Valid for as long as the hardware.
  MappedBytes map(const void* data, std::size_t bytes);
  std::pmr::memory_resource* staging_memory() { return std::pmr::new_delete_resource(); }
  /// Sets the link over which it reads the memory of linked devices.
  void use_peer_link(SharedLink& link) { queue_.peer_link = &link; }
  /// Maps memory of linked devices until the result is destroyed. Precondition: use_peer_link() was called.
  std::shared_ptr<const void> map_peers(const void* data, std::size_t bytes);
  /// Waits for the reads of a kernel that has finished computing.
  void wait_for(const LinkReads& reads);
  void release_memory() const {}
  MemoryUse memory_use() const { return {queue_.arena->peak_bytes(), queue_.arena->limit_bytes()}; }
  double now_s() { return clock_.now_s(); }
  /// Coalescer for a kernel's reads.
  Coalescer coalescer() const { return queue_.coalescer(); }

 private:
  DeviceQueue queue_;
  DeviceClock& clock_;
};

static_assert(Hardware<EmulatedHardware>);

}  // namespace gnomon::runtime::emulated
