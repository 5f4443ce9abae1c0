#pragma once

#include <optional>

#include "profiles/profile.h"
#include "runtime/device.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

/// None for 0, which facts of the hardware hold if they could not be read.
template <class T>
std::optional<T> if_positive(T value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

/// Sets the machine's device and links to what was measured of the device that `options` name.
void fill_device(MachineProfile& machine, const runtime::DeviceFacts& facts,
                 const runtime::DeviceOptions& options);

}  // namespace gnomon::profiles
