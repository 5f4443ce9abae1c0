#pragma once

#include <cstdint>
#include <map>

namespace gnomon::runtime::emulated {

/// Who uses a link and until when, as a token bucket whose tokens are shared equally: of n flows in flight
/// each gets a n-th of the bandwidth. Plain accounting on times that are given to it; not thread-safe.
class LinkFlows {
 public:
  using Flow = std::int64_t;

  /// Begins a flow that takes the link for itself for `work_s` seconds. Calls may go back in time only by
  /// what they missed: a flow that is begun late begins at the latest time of all calls.
  Flow begin(double now_s, double work_s);
  /// When the flow ends, if no other begins before. Later flows only make it later.
  double end_s(Flow flow) const;
  /// Forgets a flow that has ended by `now_s`.
  void forget(Flow flow, double now_s);

 private:
  void advance(double now_s);

  double clock_s_ = 0;
  /// The service that each flow in flight has had since the first began: it grows by 1/n in a second.
  double service_s_ = 0;
  std::multimap<double, Flow> in_flight_;  ///< by the service at which they end
  std::map<Flow, double> ended_s_;
  Flow next_ = 0;
};

}  // namespace gnomon::runtime::emulated
