#pragma once

#include <cstdint>
#include <string>

#include "plan/abilities.h"

namespace gnomon::runtime {

/// The device to train on.
struct DeviceOptions {
  plan::DeviceKind kind = plan::DeviceKind::host;
  std::int64_t max_bytes = 0;  ///< of the device's memory that may be used; 0: all of it

  bool is_host() const { return kind == plan::DeviceKind::host; }
};

/// Why there is no such device on this machine or in this build, as one line; empty if there is one.
std::string why_no_device(const DeviceOptions& options);

}  // namespace gnomon::runtime
