#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "plan/plan.h"
#include "runtime/device_options.h"

namespace gnomon::apps {

/// What to train on, as the command line says it. A GPU only where it is asked for, until that route has been
/// proved on one.
struct DeviceFlags {
  std::string device = "cpu";
  std::uint64_t max_bytes = 0;
};

/// Declares --device and --device-memory.
void add_device_flags(CLI::App& app, DeviceFlags& flags);

/// "auto" is the GPU where there is one that gnomon was built for. Throws base::InputError for a GPU that is
/// not there.
runtime::DeviceOptions device_of(const DeviceFlags& flags);

/// What plans run on: this process's cores and that device.
plan::Cores cores_with(const runtime::DeviceOptions& device);

}  // namespace gnomon::apps
