#include "runtime/emulated/shared_link.h"

#include <algorithm>

namespace gnomon::runtime::emulated {

double wire_s(const ZeroCopyReads& reads, const EmulatedLink& link) {
  return (static_cast<double>(reads.bytes) + static_cast<double>(reads.requests) * link.header_bytes) /
         link.bandwidth_bytes_per_s;
}

double in_flight_s(const ZeroCopyReads& reads, const EmulatedLink& link) {
  return static_cast<double>(reads.requests) * link.round_trip_s / link.outstanding_reads;
}

SharedLink::Begun SharedLink::begin(LinkFlows& flows, double work_s, double min_s, double then_s) {
  const double now_s = clock_.now_s();
  return {&flows, flows.begin(now_s, work_s), now_s + min_s, then_s};
}

SharedLink::Begun SharedLink::begin_copy(std::int64_t bytes, Direction direction) {
  const std::lock_guard lock(mutex_);
  use_.copied_bytes += bytes;
  return begin(direction == Direction::to_device ? to_device_ : to_host_,
               static_cast<double>(bytes) / link_.bandwidth_bytes_per_s, 0, link_.round_trip_s);
}

std::function<void()> SharedLink::begin_exchange(std::int64_t bytes) {
  return [this, sent = begin_copy(bytes, Direction::to_host),
          received = begin_copy(bytes, Direction::to_device)] {
    finish(sent);
    finish(received);
  };
}

void SharedLink::read(const ZeroCopyReads& reads, std::int64_t kernels) {
  Begun begun{};
  {
    const std::lock_guard lock(mutex_);
    use_.reads += reads;
    begun = begin(to_device_, wire_s(reads, link_), in_flight_s(reads, link_),
                  static_cast<double>(kernels) * link_.round_trip_s);
  }
  finish(begun);
}

/// Flows that start meanwhile delay the end, so it is computed again after each wait.
void SharedLink::finish(const Begun& begun) {
  while (true) {
    double end_s = 0;
    {
      const std::lock_guard lock(mutex_);
      end_s = std::max(begun.flows->end_s(begun.flow), begun.min_end_s) + begun.then_s;
      const double now_s = clock_.now_s();
      if (now_s >= end_s) {
        begun.flows->forget(begun.flow, now_s);
        return;
      }
    }
    clock_.wait_until(end_s);
  }
}

LinkUse SharedLink::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

}  // namespace gnomon::runtime::emulated
