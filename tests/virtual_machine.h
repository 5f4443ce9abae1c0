#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "schedule/machine.h"

namespace gnomon::test {

/// A Machine on virtual time whose engines are exclusive and whose durations are given: because engines serve
/// in the order of the starts, every stage's end is known when it is started. Written without SimGrid, to
/// check against.
class VirtualMachine final : public schedule::Machine {
 public:
  using Durations = std::function<double(schedule::Stage, std::int64_t batch)>;

  VirtualMachine(int workers, Durations durations, bool prepares_beside_training = false)
      : durations_(std::move(durations)),
        worker_free_s_(static_cast<std::size_t>(workers), 0.0),
        prepares_beside_training_(prepares_beside_training) {}

  schedule::Ticket start_on(int device, schedule::Stage stage, std::int64_t batch,
                            std::span<const schedule::Ticket> after) override {
    double& engine_free_s = engine_of(device, stage);
    schedule::StageSpan span{stage, batch, 0, std::max(now_s_, engine_free_s), 0, device};
    if (is_of_workers(stage)) {
      span.worker = static_cast<int>(&engine_free_s - worker_free_s_.data());
    }
    for (const auto ticket : after) {
      span.begin_s = std::max(span.begin_s, at(ticket).end_s);
    }
    span.end_s = span.begin_s + durations_(stage, batch);
    engine_free_s = span.end_s;
    spans_.push_back(span);
    return {static_cast<std::int64_t>(spans_.size()) - 1};
  }

  bool done(schedule::Ticket ticket) override {
    now_s_ += passing_ ? passing_() : 0;
    return at(ticket).end_s <= now_s_;
  }
  /// Lets the time of `passing` pass whenever it is asked whether a stage is done, so that stages end between
  /// two polls, as on a real machine.
  void let_time_pass(std::function<double()> passing) { passing_ = std::move(passing); }

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

  std::vector<std::int64_t> group_sizes() const override { return group_sizes_; }
  void take_group_sizes(std::vector<std::int64_t> sizes) { group_sizes_ = std::move(sizes); }
  void assign(std::int64_t position, std::int64_t index, int pass) override {
    assigned_[position] = {index, pass};
  }
  /// The batch of the list that a position trains, and in which pass.
  struct Assigned {
    std::int64_t index = 0;
    int pass = 0;
  };
  Assigned assigned(std::int64_t position) const {
    const auto found = assigned_.find(position);
    return found == assigned_.end() ? Assigned{position, 0} : found->second;
  }

 private:
  const schedule::StageSpan& at(schedule::Ticket ticket) const {
    return spans_.at(static_cast<std::size_t>(ticket.number));
  }
  static bool is_of_workers(schedule::Stage stage) {
    return stage == schedule::Stage::cpu_batch || stage == schedule::Stage::group_prepare;
  }
  double& engine_of(int device, schedule::Stage stage) {
    using schedule::Stage;
    switch (stage) {
      case Stage::cpu_batch:
      case Stage::group_prepare:
        return *std::min_element(worker_free_s_.begin(), worker_free_s_.end());
      case Stage::transfer:
      case Stage::group_transfer:
        return lanes_free_s_[{device, Stage::transfer}];
      case Stage::group_read:
      case Stage::all_reduce:
        return lanes_free_s_[{0, stage}];
      case Stage::device_batch:
      case Stage::device_gather:
        return lanes_free_s_[{device, prepares_beside_training_ ? Stage::device_batch : Stage::train}];
      case Stage::train:
        break;
    }
    return lanes_free_s_[{device, Stage::train}];
  }

  std::function<double()> passing_;
  Durations durations_;
  std::vector<double> worker_free_s_;
  bool prepares_beside_training_ = false;
  std::map<std::pair<int, schedule::Stage>, double> lanes_free_s_;  ///< of all but the workers
  double now_s_ = 0;
  std::vector<schedule::StageSpan> spans_;
  std::vector<std::int64_t> group_sizes_;
  std::map<std::int64_t, Assigned> assigned_;
};

}  // namespace gnomon::test
