#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "runtime/device_options.h"

namespace gnomon::apps {

/// The flags that choose the device to train on.
struct DeviceFlags {
  std::string device = "auto";
  std::uint64_t max_bytes = 0;
  std::string link;          ///< of an emulated device, as in "12GB/s"; empty: not given
  std::string link_latency;  ///< of an emulated device, as in "1.5us"; empty: not given
  std::string peer_link;     ///< between emulated devices, as in "50GB/s"; empty: not given
  int devices = 0;           ///< emulated ones; 0: not given
  int link_request = 0;      ///< of an emulated device, in bytes; 0: not given
};

/// Declares --device, --device-memory and the flags of emulated devices.
void add_device_flags(CLI::App& app, DeviceFlags& flags);

/// The arguments that name the same device to another process of this program.
std::vector<std::string> arguments_of(const DeviceFlags& flags);

/// "auto" is the GPU if there is one that gnomon was built for; "emulated" is emulated_device(). Throws
/// base::InputError if there is no GPU for "gpu", and for flags that the device does not have.
runtime::DeviceOptions device_of(const DeviceFlags& flags);

/// The cores of this process and that device, for plan::resolve.
plan::Cores cores_with(const runtime::DeviceOptions& device);

}  // namespace gnomon::apps
