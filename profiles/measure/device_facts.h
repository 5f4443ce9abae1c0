#pragma once

#include <optional>

#include "profiles/profile.h"
#include "runtime/device.h"
#include "runtime/device_options.h"

namespace gnomon::profiles {

/// Converts 0, which stands for unreadable hardware properties, to none.
template <class T>
std::optional<T> if_positive(T value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

/// Sets the machine's device and links from the measured properties of the device that `options` name.
void fill_device(MachineProfile& machine, const runtime::DeviceFacts& facts,
                 const runtime::DeviceOptions& options);

}  // namespace gnomon::profiles
