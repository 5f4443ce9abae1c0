#pragma once

#include <cstddef>
#include <memory>

namespace gnomon::kernels::cuda {

/// Host memory that a device reads over the link (zero-copy).
struct MappedMemory {
  std::shared_ptr<const void> owner;  ///< keeps the mapping
  const void* device_data = nullptr;  ///< where the device sees it
  bool is_copy = false;               ///< the memory could not be mapped where it lies: takes as much again
};

/// Maps `bytes` at `data` for every device: where it lies when the driver can (it is pinned then, and must
/// outlive the mapping), else as a pinned copy. Throws base::Failure with the CUDA runtime's words.
MappedMemory map_memory(const void* data, std::size_t bytes);

}  // namespace gnomon::kernels::cuda
