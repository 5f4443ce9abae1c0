#include "runtime/device_options.h"

#include <c10/core/Device.h>

#include "runtime/cuda/open_cuda_device.h"

namespace gnomon::runtime {

c10::Device tensor_device(const DeviceOptions& options) {
  return options.is_host() ? c10::Device(c10::kCPU) : c10::Device(c10::kCUDA, 0);
}

std::string why_no_device(const DeviceOptions& options) {
  return options.is_host() ? "" : why_no_cuda_device();
}

}  // namespace gnomon::runtime
