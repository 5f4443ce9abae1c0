#pragma once

#include <memory>

#include "runtime/emulated/device_arena.h"

namespace gnomon::runtime::emulated {

/// Guard: CPU tensors that this thread allocates during its lifetime count as memory of the arena until they
/// are freed, by any thread. It emulates a training step on a device with memory of its own. An allocation
/// that exceeds the arena's limit throws ArenaIsFull. The memory itself comes from the previous allocator.
class TensorCount {
 public:
  explicit TensorCount(std::shared_ptr<DeviceArena> arena);
  TensorCount(const TensorCount&) = delete;
  TensorCount& operator=(const TensorCount&) = delete;
  ~TensorCount();

 private:
  std::shared_ptr<DeviceArena> before_;
};

}  // namespace gnomon::runtime::emulated
