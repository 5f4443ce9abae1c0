#pragma once

#include <cstddef>
#include <memory>

namespace gnomon::kernels::cuda {

/// Pinned host memory that devices read over the link (zero-copy).
struct MappedMemory {
  std::shared_ptr<const void> owner;  ///< keeps the mapping alive
  const void* device_data = nullptr;  ///< the address on the device
  bool is_copy = false;  ///< whether the memory is a copy, because the original could not be mapped
};

/// Maps `bytes` at `data` into every device's address space: in place if the driver supports it (the memory
/// is then pinned and must outlive the mapping), otherwise as a pinned copy. Throws base::Failure with the
/// CUDA runtime's message.
MappedMemory map_memory(const void* data, std::size_t bytes);

}  // namespace gnomon::kernels::cuda
