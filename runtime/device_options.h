#pragma once

#include <cstdint>
#include <string>

#include "plan/abilities.h"

// Free of LibTorch's headers, for callers that only choose a device.

namespace gnomon::runtime {

/// The link of an emulated device. A copy takes bytes / bandwidth and one round trip. The zero-copy reads of
/// a kernel are requests of 32 to `request_bytes` bytes (Min et al., PVLDB 14(11), 2021): their bytes and
/// headers take that bandwidth, and at most `outstanding_reads` of them are answered in a round trip.
/// Concurrent uses share the link equally.
struct EmulatedLink {
  double bandwidth_bytes_per_s = 0;
  double round_trip_s = 1e-6;
  double outstanding_reads = 256;
  double header_bytes = 16;  ///< of each response
  int request_bytes = 128;   ///< maximum size of a read request: 32, 64 or 128
};

/// The links between emulated devices, over which they read each other's memory: devices 0 … clique-1 are
/// linked to each other, as are the next `clique` devices, and so on. Reads within a clique share the
/// bandwidth.
struct EmulatedPeers {
  double bandwidth_bytes_per_s = 5e10;  ///< 0: they are not linked
  int clique = 64;
};

/// The device to train on.
struct DeviceOptions {
  plan::DeviceKind kind = plan::DeviceKind::host;
  /// Maximum device memory to use; 0: all of it. For an emulated device, the size of its memory.
  std::int64_t max_bytes = 0;
  EmulatedLink link{};    ///< of an emulated device
  EmulatedPeers peers{};  ///< of emulated devices
  std::string name{};     ///< of an emulated device: the machine or device that it emulates; may be empty
  int devices = 1;        ///< of that kind, each with that memory and a link of its own
  /// Maximum host memory of a plan that reads the disk; 0: the available memory.
  std::int64_t host_bytes = 0;
};

/// Why there is no such device on this machine or in this build, as one line; empty if there is one.
std::string why_no_device(const DeviceOptions& options);

}  // namespace gnomon::runtime
