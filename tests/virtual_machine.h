#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "schedule/machine.h"

namespace gnomon::test {

/// A Machine on virtual time whose lanes are exclusive and whose durations are given: because lanes serve in
/// the order of the starts, every stage's end is known when it is started. Written without SimGrid, to check
/// against.
class VirtualMachine final : public schedule::Machine {
 public:
  using Durations = std::function<double(schedule::Stage, std::int64_t batch)>;

  VirtualMachine(int workers, Durations durations)
      : durations_(std::move(durations)), worker_free_s_(static_cast<std::size_t>(workers), 0.0) {}

  schedule::Ticket start(schedule::Stage stage, std::int64_t batch,
                         std::span<const schedule::Ticket> after) override {
    double& lane_free_s = lane_of(stage);
    schedule::StageSpan span{stage, batch, 0, std::max(now_s_, lane_free_s), 0};
    if (stage == schedule::Stage::cpu_batch) {
      span.lane = static_cast<int>(&lane_free_s - worker_free_s_.data());
    }
    for (const auto ticket : after) {
      span.begin_s = std::max(span.begin_s, at(ticket).end_s);
    }
    span.end_s = span.begin_s + durations_(stage, batch);
    lane_free_s = span.end_s;
    spans_.push_back(span);
    return {static_cast<std::int64_t>(spans_.size()) - 1};
  }

  bool done(schedule::Ticket ticket) override { return at(ticket).end_s <= now_s_; }

  void wait_any(std::span<const schedule::Ticket> tickets) override {
    if (tickets.empty()) {
      throw std::logic_error("waits for nothing");
    }
    double first_s = at(tickets.front()).end_s;
    for (const auto ticket : tickets) {
      first_s = std::min(first_s, at(ticket).end_s);
    }
    now_s_ = std::max(now_s_, first_s);
  }

  double now_s() override { return now_s_; }
  schedule::StageSpan span(schedule::Ticket ticket) override { return at(ticket); }
  const std::vector<schedule::StageSpan>& spans() const { return spans_; }

 private:
  const schedule::StageSpan& at(schedule::Ticket ticket) const {
    return spans_.at(static_cast<std::size_t>(ticket.number));
  }
  double& lane_of(schedule::Stage stage) {
    if (stage == schedule::Stage::cpu_batch) {
      return *std::min_element(worker_free_s_.begin(), worker_free_s_.end());
    }
    return stage == schedule::Stage::transfer ? copy_free_s_ : device_free_s_;
  }

  Durations durations_;
  std::vector<double> worker_free_s_;
  double copy_free_s_ = 0;
  double device_free_s_ = 0;
  double now_s_ = 0;
  std::vector<schedule::StageSpan> spans_;
};

}  // namespace gnomon::test
