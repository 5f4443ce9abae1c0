#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "plan/plan.h"
#include "runtime/device_options.h"
#include "runtime/emulated/device_clock.h"
#include "runtime/emulated/shared_link.h"

namespace gnomon::runtime::emulated {

class EmulatedDevice;

/// The devices of one machine, and the links between them: devices 0 … clique-1 are linked to each other, as
/// are the next `clique` ones. The reads of a clique's devices share one link. Thread-safe.
class PeerGroup {
 public:
  /// `link` is the devices' link to the host; links between devices have the same round trip and request
  /// size.
  PeerGroup(const EmulatedPeers& peers, const EmulatedLink& link);

  /// Adds a device, which must outlive all later calls, and returns its number.
  int join(EmulatedDevice& device);
  /// The link over which a device reads its peers; null if devices are not linked.
  SharedLink* link_of(int number);
  /// Whether all devices of the plan are linked to each other.
  bool links_all(const plan::Plan& plan) const;

  /// Registers that a device knows how much memory is left. Returns the devices of its clique that have the
  /// same role in the plan, in order, once all of them have arrived, and resets; returns none before.
  std::vector<EmulatedDevice*> arrive(int number, const plan::Plan& plan);
  /// Reverts arrive(), as another plan starts.
  void forget(int number);

 private:
  int clique_of(int number) const { return number / peers_.clique; }

  const EmulatedPeers peers_;
  const EmulatedLink link_;
  SteadyClock clock_;
  mutable std::mutex mutex_;
  std::vector<EmulatedDevice*> devices_;
  std::vector<bool> arrived_;                       ///< by device
  std::vector<std::unique_ptr<SharedLink>> links_;  ///< by clique
};

}  // namespace gnomon::runtime::emulated
