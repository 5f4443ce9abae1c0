#include "runtime/emulated/peer_group.h"

#include <algorithm>

#include "schedule/run_epoch.h"

namespace gnomon::runtime::emulated {
namespace {

/// The link to peers: limited by the bandwidth of payload only, without a limit on reads in flight.
EmulatedLink link_between(const EmulatedPeers& peers, const EmulatedLink& link) {
  return {.bandwidth_bytes_per_s = peers.bandwidth_bytes_per_s,
          .round_trip_s = link.round_trip_s,
          .outstanding_reads = 1e18,
          .header_bytes = 0,
          .request_bytes = link.request_bytes};
}

}  // namespace

PeerGroup::PeerGroup(const EmulatedPeers& peers, const EmulatedLink& link)
    : peers_(peers), link_(link_between(peers, link)) {}

int PeerGroup::join(EmulatedDevice& device) {
  const std::lock_guard lock(mutex_);
  devices_.push_back(&device);
  arrived_.push_back(false);
  const int number = static_cast<int>(devices_.size()) - 1;
  if (static_cast<std::size_t>(clique_of(number)) == links_.size()) {
    links_.push_back(std::make_unique<SharedLink>(link_, clock_));
  }
  return number;
}

SharedLink* PeerGroup::link_of(int number) {
  const std::lock_guard lock(mutex_);
  return peers_.bandwidth_bytes_per_s > 0 ? links_[static_cast<std::size_t>(clique_of(number))].get()
                                          : nullptr;
}

bool PeerGroup::links_all(const plan::Plan& plan) const {
  return peers_.bandwidth_bytes_per_s > 0 && peers_.clique >= plan.devices;
}

std::vector<EmulatedDevice*> PeerGroup::arrive(int number, const plan::Plan& plan) {
  const std::lock_guard lock(mutex_);
  if (peers_.bandwidth_bytes_per_s <= 0) {
    return {devices_[static_cast<std::size_t>(number)]};
  }
  const int trainer = schedule::first_trainer(plan);
  const bool trains = number >= trainer;
  const int begin = std::max(clique_of(number) * peers_.clique, trains ? trainer : 0);
  const int end = std::min((clique_of(number) + 1) * peers_.clique, trains ? plan.devices : trainer);
  arrived_[static_cast<std::size_t>(number)] = true;
  if (!std::all_of(arrived_.begin() + begin, arrived_.begin() + end, [](bool has) { return has; })) {
    return {};
  }
  std::fill(arrived_.begin() + begin, arrived_.begin() + end, false);
  return {devices_.begin() + begin, devices_.begin() + end};
}

void PeerGroup::forget(int number) {
  const std::lock_guard lock(mutex_);
  arrived_[static_cast<std::size_t>(number)] = false;
}

}  // namespace gnomon::runtime::emulated
