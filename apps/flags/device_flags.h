#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "plan/plan.h"
#include "runtime/device_options.h"

namespace gnomon::apps {

/// The device to train on, as the command line names it.
struct DeviceFlags {
  std::string device = "cpu";
  std::uint64_t max_bytes = 0;
};

/// Declares --device and --device-memory.
void add_device_flags(CLI::App& app, DeviceFlags& flags);

/// "auto" is the GPU if there is one that gnomon was built for. Throws base::InputError if there is no GPU
/// for "gpu".
runtime::DeviceOptions device_of(const DeviceFlags& flags);

/// The cores of this process and that device, for plan::resolve.
plan::Cores cores_with(const runtime::DeviceOptions& device);

}  // namespace gnomon::apps
