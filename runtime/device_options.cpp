#include "runtime/device_options.h"

#include "runtime/cuda/open_cuda_device.h"

namespace gnomon::runtime {

std::string why_no_device(const DeviceOptions& options) {
  return options.is_host() ? "" : why_no_cuda_device();
}

}  // namespace gnomon::runtime
