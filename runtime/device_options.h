#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

#include "plan/plan.h"

namespace gnomon::runtime {

/// The implementations of Device (runtime/device.h).
enum class DeviceKind : std::uint8_t {
  host,  ///< threads of this machine's cores, in the host's memory
  cuda,  ///< the first GPU
};

/// The device to train on.
struct DeviceOptions {
  DeviceKind kind = DeviceKind::host;
  std::int64_t max_bytes = 0;  ///< of the device's memory that may be used; 0: all of it

  bool is_host() const { return kind == DeviceKind::host; }
};

/// Where the tensors of the device's mini-batches and of a model that it trains lie.
c10::Device tensor_device(const DeviceOptions& options);

/// Why there is no such device on this machine or in this build, as one line; empty if there is one.
std::string why_no_device(const DeviceOptions& options);

/// Which fields of a plan the device cannot execute, as one line; empty if it can execute the plan. The only
/// place in the runtime that decides it.
std::string why_not_executed(const plan::Plan& plan, const DeviceOptions& options);

}  // namespace gnomon::runtime
