#include "runtime/emulated/emulated_hardware.h"

namespace gnomon::runtime::emulated {

void EmulatedHardware::run(const std::function<void()>& act) {
  act();
  queue_.settle();
}

MappedBytes EmulatedHardware::map(const void* data, std::size_t bytes) {
  queue_.mapped.add(data, bytes);
  return {std::shared_ptr<const void>(data, [this](const void* mapped) { queue_.mapped.remove(mapped); }),
          data};
}

std::shared_ptr<const void> EmulatedHardware::map_peers(const void* data, std::size_t bytes) {
  queue_.peers.add(data, bytes);
  return {data, [this](const void* mapped) { queue_.peers.remove(mapped); }};
}

void EmulatedHardware::wait_for(const LinkReads& reads) {
  if (reads.host.requests > 0) {
    queue_.link.read(reads.host, 1);
  }
  if (reads.peers.requests > 0) {
    queue_.peer_link->read(reads.peers, 1);
  }
}

}  // namespace gnomon::runtime::emulated
