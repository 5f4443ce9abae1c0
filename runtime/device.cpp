#include "runtime/device.h"

#include <utility>

#include "base/error.h"
#include "runtime/cuda/open_cuda_device.h"
#include "runtime/host/host_device.h"

namespace gnomon::runtime {

std::unique_ptr<Device> open_device(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job,
                                    const plan::Plan& plan, const DeviceOptions& options,
                                    const base::Progress& progress) {
  if (const auto why = why_no_device(options); !why.empty()) {
    throw base::InputError("GPU", why);
  }
  auto device = options.kind == plan::DeviceKind::cuda ? open_cuda_device(job, options, progress)
                                                       : std::make_unique<HostDevice>(job);
  device->take_plan(plan, std::move(graph));
  return device;
}

c10::Device tensor_device(const DeviceOptions& options) {
  return options.is_host() ? c10::Device(c10::kCPU) : c10::Device(c10::kCUDA, 0);
}

}  // namespace gnomon::runtime
