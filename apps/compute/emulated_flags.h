#pragma once

#include "apps/compute/device_flags.h"

namespace gnomon::apps {

/// Whether --device names an emulated device: "emulated" or "emulated:NAME".
bool names_emulated(const std::string& device);

/// Declares --link, --link-latency, --link-request, --peer-link and --devices.
void add_emulated_flags(CLI::App& app, DeviceFlags& flags);

/// Throws base::InputError if one of them is given.
void refuse_emulated_flags(const DeviceFlags& flags);

/// The emulated device of the flags: memory and link of the catalog's machine, or machine file, that
/// "emulated:NAME" names, unless the flags say otherwise. Throws base::InputError if the machine is unknown,
/// and for numbers that are missing or wrong.
runtime::DeviceOptions emulated_device(const DeviceFlags& flags);

}  // namespace gnomon::apps
