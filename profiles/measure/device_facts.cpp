#include "profiles/measure/device_facts.h"

#include <algorithm>

namespace gnomon::profiles {
namespace {

/// An emulated device's links are as configured.
void fill_emulated(MachineProfile& machine, const runtime::DeviceOptions& options) {
  const auto& link = options.link;
  machine.link.outstanding_reads = link.outstanding_reads;
  machine.link.round_trip_s = link.round_trip_s;
  machine.link.header_bytes = link.header_bytes;
  if (options.devices > 1 && options.peers.bandwidth_bytes_per_s > 0) {
    machine.peers = {options.peers.bandwidth_bytes_per_s, std::min(options.peers.clique, options.devices)};
  }
}

}  // namespace

void fill_device(MachineProfile& machine, const runtime::DeviceFacts& facts,
                 const runtime::DeviceOptions& options) {
  auto& device = machine.device;
  device.kind = options.kind;
  device.name = facts.name;
  device.count = options.devices;
  device.memory_bytes = if_positive(facts.memory_bytes);
  device.context_bytes = 0;  // was there when the memory was measured
  device.memory_bandwidth_bytes_per_s = facts.memory_bandwidth_bytes_per_s;
  device.multiprocessors = facts.multiprocessors;
  if (facts.link_saturation_share) {
    device.link_saturation_share = *facts.link_saturation_share;
  }
  machine.link.bandwidth_bytes_per_s = facts.link_bandwidth_bytes_per_s;
  machine.link.transfers_per_s = if_positive(facts.link.transfers_per_s);
  machine.link.lanes = if_positive(facts.link.lanes);
  if (options.kind == DeviceKind::emulated) {
    fill_emulated(machine, options);
  }
}

}  // namespace gnomon::profiles
