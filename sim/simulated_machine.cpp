#include "sim/simulated_machine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gnomon::sim {
namespace {

using schedule::Stage;
using schedule::Ticket;

constexpr int device_lane = 0;
constexpr int copy_lane = 1;
constexpr int first_worker = 2;

bool has_contention(const profiles::Contention& contention) {
  bool found = false;
  const auto look = [&found](const char*, double slowdown, base::Range = {}) { found |= slowdown != 1; };
  profiles::Contention::fields(contention, look);
  return found;
}

}  // namespace

SimulatedMachine::SimulatedMachine(const MachineModel& model, double scale_s)
    : model_(model),
      contended_(has_contention(model.contention)),
      hardware_(model.cores, first_worker + model.workers, scale_s),
      lanes_(static_cast<std::size_t>(first_worker + model.workers)) {}

Ticket SimulatedMachine::start(Stage stage, std::int64_t batch, std::span<const Ticket> after) {
  const auto ticket = std::ssize(started_);
  started_.push_back({{stage, batch, 0, 0, 0}, {}, false});
  for (const Ticket before : after) {
    if (!done(before)) {
      started_.back().after.push_back(before);
    }
  }
  const int queue = stage == Stage::cpu_batch  ? first_worker
                    : stage == Stage::transfer ? copy_lane
                                               : device_lane;
  queue_of(queue).push_back(ticket);
  dispatch();
  return {ticket};
}

bool SimulatedMachine::done(Ticket ticket) {
  return started_.at(static_cast<std::size_t>(ticket.number)).done;
}

schedule::StageSpan SimulatedMachine::span(Ticket ticket) {
  return started_.at(static_cast<std::size_t>(ticket.number)).span;
}

void SimulatedMachine::wait_any(std::span<const Ticket> tickets) {
  const auto is_done = [this](Ticket ticket) { return done(ticket); };
  while (std::none_of(tickets.begin(), tickets.end(), is_done)) {
    advance();
  }
}

std::vector<schedule::StageSpan> SimulatedMachine::timeline() const {
  std::vector<schedule::StageSpan> spans;
  for (const Started& started : started_) {
    if (started.done) {
      spans.push_back(started.span);
    }
  }
  return spans;
}

std::deque<std::int64_t>& SimulatedMachine::queue_of(int lane) {
  return queues_[static_cast<std::size_t>(std::min(lane, first_worker))];
}

/// Lets every lane take what it can at this date. A stage that takes no time may free others.
void SimulatedMachine::dispatch() {
  bool ended = true;
  while (ended) {
    ended = step(device_lane);
    ended |= step(copy_lane);
    const int workers = queue_of(first_worker).empty() && waiting_workers_ == 0 ? 0 : model_.workers;
    for (int worker = 0; worker < workers; ++worker) {
      ended |= step(first_worker + worker);
    }
  }
}

/// Whether a stage ended at once.
bool SimulatedMachine::step(int lane) {
  Lane& here = lanes_[static_cast<std::size_t>(lane)];
  if (here.current < 0 && !queue_of(lane).empty()) {
    here.current = queue_of(lane).front();
    queue_of(lane).pop_front();
    waiting_workers_ += lane >= first_worker;
  }
  if (here.current < 0 || here.running || !is_ready(here.current)) {
    return false;
  }
  waiting_workers_ -= lane >= first_worker;
  return begin(lane);
}

bool SimulatedMachine::is_ready(std::int64_t ticket) const {
  const auto& after = started_[static_cast<std::size_t>(ticket)].after;
  return std::all_of(after.begin(), after.end(), [this](Ticket before) {
    return started_[static_cast<std::size_t>(before.number)].done;
  });
}

/// Whether the stage that `lane` has reached ended at once.
bool SimulatedMachine::begin(int lane) {
  Lane& here = lanes_[static_cast<std::size_t>(lane)];
  auto& span = at(here.current).span;
  span.begin_s = now_s();
  span.lane = std::max(0, lane - first_worker);
  here.running = true;
  ++running_[static_cast<std::size_t>(span.stage)];
  const auto [first, second] = work_of(span.stage, span.batch);
  here.next = second;
  const bool uses_link = span.stage == Stage::transfer || span.stage == Stage::device_batch;
  link_s_ += uses_link ? first.seconds : 0;
  if (first.seconds <= 0 && second.seconds <= 0) {
    finish(lane);
    return true;
  }
  beginning_.emplace_back(lane, first.seconds > 0 ? first : std::exchange(here.next, {}));
  return false;
}

void SimulatedMachine::finish(int lane) {
  Lane& here = lanes_[static_cast<std::size_t>(lane)];
  Started& ended = at(here.current);
  ended.done = true;
  ended.span.end_s = now_s();
  const auto stage = static_cast<std::size_t>(ended.span.stage);
  --running_[stage];
  busy_s_[stage] += ended.span.end_s - ended.span.begin_s;
  here = {};
}

/// One piece of work, or two one after the other.
std::array<Work, 2> SimulatedMachine::work_of(Stage stage, std::int64_t batch) const {
  const StageCosts costs = model_.costs_of ? model_.costs_of(batch) : model_.costs;
  const auto device = model_.host_device ? Resource::cores : Resource::device;
  const Work nothing;
  switch (stage) {
    case Stage::cpu_batch:
      return {Work{costs.cpu_batch_s, Resource::cores, 1}, nothing};
    case Stage::transfer:
      return {Work{costs.transfer_s, model_.host_device ? Resource::cores : Resource::link, 1}, nothing};
    case Stage::train:
      return {Work{costs.train_s, device, model_.device_threads}, nothing};
    case Stage::device_batch:
      break;
  }
  const double link_s = model_.host_device ? 0 : std::min(costs.device_batch_link_s, costs.device_batch_s);
  return {Work{link_s, Resource::link, 1},
          Work{costs.device_batch_s - link_s, device, model_.device_threads}};
}

double SimulatedMachine::slowdown_of(Stage stage) const {
  return contended_ ? slowdown(model_.contention, stage, running_) : 1.0;
}

/// Before time goes on: gives the hardware what begins now, and everything running its present speed.
void SimulatedMachine::settle() {
  for (const auto& [lane, work] : beginning_) {
    Lane& here = lanes_[static_cast<std::size_t>(lane)];
    here.slowdown = slowdown_of(at(here.current).span.stage);
    hardware_.begin(lane, work, here.slowdown);
  }
  beginning_.clear();
  if (!contended_) {
    return;
  }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    Lane& here = lanes_[lane];
    const double slowdown = here.running ? slowdown_of(at(here.current).span.stage) : here.slowdown;
    if (here.running && slowdown != here.slowdown) {
      here.slowdown = slowdown;
      hardware_.change_slowdown(static_cast<int>(lane), slowdown);
    }
  }
}

void SimulatedMachine::advance() {
  settle();
  const auto& ended = hardware_.advance();
  if (ended.empty()) {
    throw std::logic_error("the policy waits for a stage that cannot end: no stage runs");
  }
  for (const int lane : ended) {
    Lane& here = lanes_[static_cast<std::size_t>(lane)];
    if (here.next.seconds > 0) {
      beginning_.emplace_back(lane, std::exchange(here.next, {}));
    } else {
      finish(lane);
    }
  }
  dispatch();
}

}  // namespace gnomon::sim
