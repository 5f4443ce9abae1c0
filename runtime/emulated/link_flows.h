#pragma once

#include <cstdint>
#include <map>

namespace gnomon::runtime::emulated {

/// Processor-sharing model of a link: each of n flows in flight gets 1/n of the bandwidth. Pure accounting on
/// the given times. Not thread-safe.
class LinkFlows {
 public:
  using Flow = std::int64_t;

  /// Starts a flow that would take `work_s` seconds on an idle link. `now_s` may lie before that of an
  /// earlier call; the flow then starts at the latest time of all calls.
  Flow begin(double now_s, double work_s);
  /// When the flow ends if no further flow starts before that. Further flows only delay the end.
  double end_s(Flow flow) const;
  /// Removes a flow that has ended by `now_s`.
  void forget(Flow flow, double now_s);

 private:
  void advance(double now_s);

  double clock_s_ = 0;
  /// The virtual service time of each flow in flight: it advances by 1/n per second.
  double service_s_ = 0;
  std::multimap<double, Flow> in_flight_;  ///< by the service time at which they end
  std::map<Flow, double> ended_s_;
  Flow next_ = 0;
};

}  // namespace gnomon::runtime::emulated
