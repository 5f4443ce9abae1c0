#pragma once

#include <memory>

#include "runtime/emulated/device_arena.h"

namespace gnomon::runtime::emulated {

/// While it lives, the tensors that this thread allocates on the CPU count as memory of the arena, until they
/// are freed by any thread: a training step on an emulated device. An allocation for which the arena has no
/// room throws ArenaIsFull. The tensors' own memory is that of the allocator that was there before.
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
