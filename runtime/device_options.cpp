#include "runtime/device_options.h"

#include <cmath>

#include "runtime/cuda/open_cuda_device.h"

namespace gnomon::runtime {
namespace {

std::string why_not_emulated(const DeviceOptions& options) {
  if (options.max_bytes <= 0) {
    return "an emulated device needs the size of its memory";
  }
  const auto& link = options.link;
  if (!(link.bandwidth_bytes_per_s > 0) || !std::isfinite(link.bandwidth_bytes_per_s)) {
    return "an emulated device needs the bandwidth of its link";
  }
  if (link.request_bytes != 32 && link.request_bytes != 64 && link.request_bytes != 128) {
    return "an emulated device reads in requests of at most 32, 64 or 128 bytes, not of " +
           std::to_string(link.request_bytes);
  }
  const auto& peers = options.peers;
  if (!(peers.bandwidth_bytes_per_s >= 0) || !std::isfinite(peers.bandwidth_bytes_per_s) ||
      peers.clique < 1) {
    return "emulated devices need the bandwidth of the links between them, or 0 where they have none";
  }
  return options.devices >= 1 && options.devices <= 64
             ? ""
             : "1 to 64 devices can be emulated, not " + std::to_string(options.devices);
}

}  // namespace

std::string why_no_device(const DeviceOptions& options) {
  if (options.devices != 1 && options.kind != plan::DeviceKind::emulated) {
    return "the runtime trains on one such device so far, not on " + std::to_string(options.devices);
  }
  switch (options.kind) {
    case plan::DeviceKind::host:
      return "";
    case plan::DeviceKind::emulated:
      return why_not_emulated(options);
    case plan::DeviceKind::cuda:
      break;
  }
  return why_no_cuda_device();
}

}  // namespace gnomon::runtime
