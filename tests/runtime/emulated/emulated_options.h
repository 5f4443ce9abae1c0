#pragma once

#include <cstdint>

#include "runtime/device_options.h"

namespace gnomon::runtime {

/// Emulated devices behind links so fast that tests do not wait for them.
inline DeviceOptions emulated_options(std::int64_t bytes = std::int64_t{64} << 20, int devices = 1) {
  return {.kind = plan::DeviceKind::emulated,
          .max_bytes = bytes,
          .link = {.bandwidth_bytes_per_s = 1e12, .round_trip_s = 0},
          .devices = devices};
}

}  // namespace gnomon::runtime
