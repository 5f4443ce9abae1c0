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
/// are the next ones. The reads of a clique's devices share one link. Thread-safe.
class PeerGroup {
 public:
  /// `link` is the devices' own, of which links between them have the round trip and the requests.
  PeerGroup(const EmulatedPeers& peers, const EmulatedLink& link);

  /// Adds a device, which must outlive all its later calls, and returns its number.
  int join(EmulatedDevice& device);
  /// The link over which a device reads its peers; null if devices are not linked.
  SharedLink* link_of(int number);
  /// Whether all devices of the plan are linked to each other.
  bool links_all(const plan::Plan& plan) const;

  /// Says that a device knows how much memory its work leaves. Once all devices of its clique that have its
  /// role in the plan have said so, returns them in order, and forgets it; nothing before.
  std::vector<EmulatedDevice*> arrive(int number, const plan::Plan& plan);
  /// Takes back what a device said, as another plan begins.
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
