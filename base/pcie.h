#pragma once

#include <filesystem>
#include <string>

namespace gnomon::base {

/// How a device is connected, as the system tells it; 0: it does not.
struct PcieLink {
  double transfers_per_s = 0;  ///< of each lane: 16e9 is generation 4
  int lanes = 0;
  bool operator==(const PcieLink&) const = default;
};

/// Of the device with that address ("0000:3b:00.0", capital letters allowed), the fastest that it and its
/// slot can: links that are idle slow down. `devices` is where the system keeps its files.
PcieLink pcie_link(std::string address, const std::filesystem::path& devices = "/sys/bus/pci/devices");

}  // namespace gnomon::base
