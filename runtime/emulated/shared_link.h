#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

#include "runtime/device_options.h"
#include "runtime/emulated/device_clock.h"
#include "runtime/emulated/link_flows.h"
#include "runtime/emulated/zero_copy_reads.h"

namespace gnomon::runtime::emulated {

/// The time that reads occupy an idle link: their bytes and headers.
double wire_s(const ZeroCopyReads& reads, const EmulatedLink& link);
/// The minimum duration of reads given the limit on reads in flight.
double in_flight_s(const ZeroCopyReads& reads, const EmulatedLink& link);

/// The traffic of a link.
struct LinkUse {
  std::int64_t copied_bytes = 0;
  ZeroCopyReads reads{};
  bool operator==(const LinkUse&) const = default;
};

/// An emulated device's link to the host. Copies and reads block for as long as they take, given all
/// concurrent uses of the same direction. Thread-safe.
class SharedLink {
 public:
  /// `clock` must outlive it.
  SharedLink(const EmulatedLink& link, DeviceClock& clock) : link_(link), clock_(clock) {}

  enum class Direction { to_device, to_host };

  /// Calls `move`, which performs the copy, and returns when both it and the link have finished.
  template <class Move>
  void copy(std::int64_t bytes, const Move& move, Direction direction = Direction::to_device) {
    const Begun begun = begin_copy(bytes, direction);
    move();
    finish(begun);
  }
  /// Starts to send and to receive `bytes` concurrently, and returns a function that waits for both.
  std::function<void()> begin_exchange(std::int64_t bytes);
  /// Waits for the zero-copy reads of `kernels` kernels that have finished computing; each adds a round trip.
  void read(const ZeroCopyReads& reads, std::int64_t kernels);

  LinkUse use() const;
  const EmulatedLink& settings() const { return link_; }

 private:
  struct Begun {
    LinkFlows* flows;
    LinkFlows::Flow flow;
    double min_end_s;  ///< lower bound from latency
    double then_s;     ///< after the flow
  };
  Begun begin_copy(std::int64_t bytes, Direction direction);
  Begun begin(LinkFlows& flows, double work_s, double min_s, double then_s);
  void finish(const Begun& begun);

  const EmulatedLink link_;
  DeviceClock& clock_;
  mutable std::mutex mutex_;
  LinkFlows to_device_;
  LinkFlows to_host_;
  LinkUse use_;
};

}  // namespace gnomon::runtime::emulated
