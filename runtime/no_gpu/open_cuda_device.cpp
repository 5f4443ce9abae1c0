#include "runtime/cuda/open_cuda_device.h"

#include "base/error.h"

// In place of runtime/cuda where that cannot be linked.

namespace gnomon::runtime {

std::string why_no_cuda_device() { return "this gnomon was built with a LibTorch for the CPU only"; }

std::unique_ptr<Device> open_cuda_device(const plan::Job&, const DeviceOptions&, const base::Progress&) {
  throw base::InputError("GPU", why_no_cuda_device());
}

}  // namespace gnomon::runtime
