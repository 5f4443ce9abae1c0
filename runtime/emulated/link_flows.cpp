#include "runtime/emulated/link_flows.h"

#include <algorithm>

namespace gnomon::runtime::emulated {

void LinkFlows::advance(double now_s) {
  while (!in_flight_.empty()) {
    const auto first = in_flight_.begin();
    const double ends_s = clock_s_ + (first->first - service_s_) * static_cast<double>(in_flight_.size());
    if (ends_s > now_s) {
      break;
    }
    clock_s_ = ends_s;
    service_s_ = first->first;
    ended_s_.emplace(first->second, ends_s);
    in_flight_.erase(first);
  }
  if (now_s > clock_s_) {
    service_s_ =
        in_flight_.empty() ? 0 : service_s_ + (now_s - clock_s_) / static_cast<double>(in_flight_.size());
    clock_s_ = now_s;
  }
}

LinkFlows::Flow LinkFlows::begin(double now_s, double work_s) {
  advance(now_s);
  in_flight_.emplace(service_s_ + std::max(0.0, work_s), next_);
  return next_++;
}

double LinkFlows::end_s(Flow flow) const {
  if (const auto ended = ended_s_.find(flow); ended != ended_s_.end()) {
    return ended->second;
  }
  double end_s = clock_s_;
  double service_s = service_s_;
  auto left = static_cast<double>(in_flight_.size());
  for (const auto& [at_s, each] : in_flight_) {
    end_s += (at_s - service_s) * left--;
    service_s = at_s;
    if (each == flow) {
      break;
    }
  }
  return end_s;
}

void LinkFlows::forget(Flow flow, double now_s) {
  advance(now_s);
  ended_s_.erase(flow);
}

}  // namespace gnomon::runtime::emulated
