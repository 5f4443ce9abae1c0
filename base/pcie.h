#pragma once

#include <filesystem>
#include <string>

namespace gnomon::base {

/// A device's PCIe link as the system reports it; 0 for what it does not report.
struct PcieLink {
  double transfers_per_s = 0;  ///< of each lane: 16e9 is generation 4
  int lanes = 0;
  bool operator==(const PcieLink&) const = default;
};

/// Returns the maximum link speed and width that both the device at this address ("0000:3b:00.0", in either
/// case) and its slot support. The maximum, because idle links run at a lower speed. `devices` is the
/// directory of the devices in sysfs.
PcieLink pcie_link(std::string address, const std::filesystem::path& devices = "/sys/bus/pci/devices");

}  // namespace gnomon::base
