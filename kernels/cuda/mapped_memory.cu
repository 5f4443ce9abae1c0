#include <algorithm>
#include <cstddef>
#include <string>

#include "base/error.h"
#include "base/usable.h"
#include "kernels/cpu/copy.h"
#include "kernels/cuda/check.h"
#include "kernels/cuda/mapped_memory.h"

namespace gnomon::kernels::cuda {
namespace {

const void* device_view(void* host) {
  void* device = nullptr;
  check(cudaHostGetDevicePointer(&device, host, 0), "mapping host memory");
  return device;
}

/// Tries to register host memory in place. Writable memory can always be registered; a read-only file mapping
/// needs a read-only registration, which not every driver supports.
bool register_in_place(void* data, std::size_t bytes) {
  constexpr unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
  for (const unsigned access : {0U, unsigned{cudaHostRegisterReadOnly}}) {
    if (cudaHostRegister(data, bytes, flags | access) == cudaSuccess) {
      return true;
    }
    (void)cudaGetLastError();  // clears the error
  }
  return false;
}

}  // namespace

MappedMemory map_memory(const void* data, std::size_t bytes) {
  auto* host = const_cast<void*>(data);  // devices only read it
  if (bytes > 0 && register_in_place(host, bytes)) {
    const std::shared_ptr<const void> owner(host, [](void* registered) { cudaHostUnregister(registered); });
    return {owner, device_view(host), false};
  }
  const std::int64_t available = base::available_memory_bytes();
  if (available > 0 && static_cast<std::int64_t>(bytes) > available) {
    throw base::Failure("host memory", "cannot be mapped for the device in place, and a pinned copy takes " +
                                           std::to_string(bytes >> 20) + " MiB; " +
                                           std::to_string(available >> 20) +
                                           " MiB are available; keep the data in the device's memory");
  }
  void* copy = nullptr;
  check(cudaHostAlloc(&copy, std::max<std::size_t>(bytes, 1), cudaHostAllocPortable | cudaHostAllocMapped),
        "pinning " + std::to_string(bytes) + " bytes of host memory");
  const std::shared_ptr<const void> owner(copy, [](void* pinned) { cudaFreeHost(pinned); });
  if (bytes > 0) {
    cpu::copy_on_all_cores(static_cast<std::byte*>(copy), static_cast<const std::byte*>(data), bytes);
  }
  return {owner, device_view(copy), true};
}

}  // namespace gnomon::kernels::cuda
