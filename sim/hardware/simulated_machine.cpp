#include "sim/hardware/simulated_machine.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"

namespace gnomon::sim {
namespace {

using schedule::Stage;
using schedule::StageSpan;
using schedule::Ticket;

/// The engines of a device.
constexpr int device_engine = 0;
constexpr int copy_engine = 1;
constexpr int side_engine = 2;
constexpr int engines_per_device = 3;

int units(int devices, int per_unit) { return (devices + per_unit - 1) / per_unit; }

/// Engines after those of the devices: the disk, the interconnect, the workers.
int first_worker_of(const MachineModel& model) { return engines_per_device * model.devices + 2; }

}  // namespace

Shared shared_of(const MachineModel& model) {
  return {model.cores, model.disk_depth, units(model.devices, model.devices_per_link),
          units(model.devices, model.devices_per_clique)};
}

int slots_of(const MachineModel& model) { return first_worker_of(model) + model.workers; }

SimulatedMachine::SimulatedMachine(const MachineModel& model, std::unique_ptr<Hardware> hardware)
    : model_(model),
      contended_(is_contended(model)),
      disk_engine_(engines_per_device * model.devices),
      first_worker_(first_worker_of(model)),
      hardware_(std::move(hardware)),
      engines_(static_cast<std::size_t>(slots_of(model))),
      queues_(static_cast<std::size_t>(first_worker_ + 1)),
      running_(model.devices),
      slowdowns_(static_cast<std::size_t>(model.devices)) {
  for (int worker = 0; worker < model.workers; ++worker) {
    free_workers_.push(first_worker_ + worker);
  }
}

/// The stage's engine; the first worker's stands for all workers.
int SimulatedMachine::engine_for(int device, Stage stage) const {
  const int first = engines_per_device * device;
  switch (stage) {
    case Stage::cpu_batch:
    case Stage::group_prepare:
      return first_worker_;
    case Stage::transfer:
    case Stage::group_transfer:
      return first + copy_engine;
    case Stage::device_batch:
      return first + (model_.prepare_share > 0 ? side_engine : device_engine);
    case Stage::device_gather:
      return first +
             (model_.prepare_share > 0 || model_.gathers_beside_training ? side_engine : device_engine);
    case Stage::train:
      return first + device_engine;
    case Stage::group_read:
      return disk_engine_;
    case Stage::all_reduce:
      break;
  }
  return disk_engine_ + 1;
}

std::deque<std::int64_t>& SimulatedMachine::queue_of(int engine) {
  return queues_[static_cast<std::size_t>(std::min(engine, first_worker_))];
}

void SimulatedMachine::add_successor(Started& before, std::int64_t ticket) {
  const auto place = static_cast<int>(successors_.size());
  successors_.push_back({ticket});
  if (before.first_successor == none) {
    before.first_successor = place;
  } else {
    successors_[static_cast<std::size_t>(before.last_successor)].next = place;
  }
  before.last_successor = place;
}

Ticket SimulatedMachine::start_on(int device, Stage stage, std::int64_t batch,
                                  std::span<const Ticket> after) {
  if (device < 0 || device >= model_.devices) {
    throw base::InputError("device " + std::to_string(device),
                           "the machine has " + std::to_string(model_.devices));
  }
  const auto ticket = std::ssize(started_);
  started_.push_back({{stage, batch, 0, 0, 0, device}});
  for (const Ticket before : after) {
    if (!done(before)) {
      add_successor(at(before.number), ticket);
      ++started_.back().pending;
    }
  }
  const int engine = engine_for(device, stage);
  queue_of(engine).push_back(ticket);
  to_look_at_.push_back(engine);
  settle_engines();
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

std::vector<StageSpan> SimulatedMachine::timeline() const {
  std::vector<StageSpan> spans;
  for (const Started& started : started_) {
    if (started.done) {
      spans.push_back(started.span);
    }
  }
  return spans;
}

std::vector<StageSpan> SimulatedMachine::timeline_so_far() {
  auto spans = timeline();
  for (const Engine& engine : engines_) {
    if (engine.running && at(engine.current).span.stage != Stage::train) {
      spans.push_back(at(engine.current).span);
      spans.back().end_s = now_s();
    }
  }
  return spans;
}

/// An idle engine takes its next stage; an idle worker takes the next one of the workers' common queue.
void SimulatedMachine::take_next(int engine) {
  auto& queue = queue_of(engine);
  while (!queue.empty()) {
    int taker = engine;
    if (engine == first_worker_) {
      if (free_workers_.empty()) {
        return;
      }
      taker = free_workers_.top();
      free_workers_.pop();
    } else if (engine_at(engine).current >= 0) {
      return;
    }
    engine_at(taker).current = queue.front();
    at(queue.front()).span.worker = is_worker(taker) ? taker - first_worker_ : 0;
    queue.pop_front();
    if (at(engine_at(taker).current).pending == 0) {
      begin(taker);
    } else {
      at(engine_at(taker).current).waiting_engine = taker;
    }
  }
}

/// Lets every engine take the stages that are ready now. A stage of zero duration may release others.
void SimulatedMachine::settle_engines() {
  while (!to_look_at_.empty() || !ready_.empty()) {
    if (!ready_.empty()) {
      const int engine = ready_.back();
      ready_.pop_back();
      begin(engine);
    } else {
      const int engine = to_look_at_.back();
      to_look_at_.pop_back();
      take_next(engine);
    }
  }
}

void SimulatedMachine::begin(int engine) {
  Engine& here = engine_at(engine);
  auto& span = at(here.current).span;
  span.begin_s = now_s();
  here.running = true;
  here.phase = 0;
  here.phases = phases_of(span);
  change_running(span, 1);
  if (here.phases.count == 0) {
    finish(engine);
  } else {
    beginning_.push_back(engine);
  }
}

/// Accounts for a phase that has ended.
void SimulatedMachine::count(const Work& work, Stage stage) {
  const bool is_copy = work.resource == Resource::link || (model_.host_device && stage == Stage::transfer);
  totals_.link_s += is_copy ? work.seconds : 0;
  totals_.disk_s += work.resource == Resource::disk ? work.seconds * work.threads / model_.disk_depth : 0;
}

void SimulatedMachine::finish(int engine) {
  Engine& here = engine_at(engine);
  const std::int64_t ticket = here.current;
  Started& ended = at(ticket);
  ended.done = true;
  ended.span.end_s = now_s();
  change_running(ended.span, -1);
  totals_.busy_s[static_cast<std::size_t>(ended.span.stage)] += ended.span.seconds();
  here = {};
  if (is_worker(engine)) {
    free_workers_.push(engine);
  }
  to_look_at_.push_back(std::min(engine, first_worker_));
  for (int place = ended.first_successor; place != none;) {
    const Successor& successor = successors_[static_cast<std::size_t>(place)];
    Started& next = at(successor.ticket);
    if (--next.pending == 0 && next.waiting_engine >= 0) {
      ready_.push_back(next.waiting_engine);
    }
    place = successor.next;
  }
  if (ended.span.stage == Stage::train && ++trained_ == next_look_) {
    next_look_ = look_();
  }
}

void SimulatedMachine::change_running(const StageSpan& span, int change) {
  if (contended_) {
    running_.add(span.stage, span.device, change);
    running_changed_ = true;
  }
}

/// Splits a stage into one or more consecutive phases.
SimulatedMachine::Phases SimulatedMachine::phases_of(Stage stage, const StageCosts& costs,
                                                     int on_device) const {
  const auto device = model_.on_cores() ? Resource::cores : Resource::device;
  const int link = switch_of(on_device);
  const int clique = on_device / model_.devices_per_clique;
  Phases phases;
  const auto copy = [&](double seconds) {
    phases.add({seconds, model_.host_device ? Resource::cores : Resource::link, 1, link});
  };
  const auto prepare = [&](double seconds, double link_s, double peer_s) {
    link_s = model_.host_device ? 0 : std::min(link_s, seconds);
    peer_s = std::min(peer_s, seconds - link_s);
    phases.add({link_s, Resource::link, 1, link});
    phases.add({peer_s, Resource::peer, 1, clique});
    phases.add({seconds - link_s - peer_s, device, model_.prepare_threads});
  };
  switch (stage) {
    case Stage::cpu_batch:
      phases.add({costs.cpu_batch_disk_s, Resource::disk, model_.disk_depth});
      phases.add({costs.cpu_batch_s, Resource::cores, model_.worker_threads});
      break;
    case Stage::transfer:
      copy(costs.transfer_s);
      break;
    case Stage::train:
      phases.add({costs.train_s, device, model_.device_threads});
      break;
    case Stage::device_batch:
      prepare(costs.device_batch_s, costs.device_batch_link_s, costs.device_batch_peer_s);
      break;
    case Stage::device_gather:
      prepare(costs.device_gather_s, costs.device_gather_link_s, costs.device_gather_peer_s);
      break;
    case Stage::all_reduce:
      phases.add({costs.all_reduce_cores_s, Resource::cores, 1});
      phases.add({costs.all_reduce_s - costs.all_reduce_cores_s, Resource::device, 1});
      break;
    case Stage::group_read:
      phases.add({costs.group_read_s, Resource::disk, model_.disk_depth});
      break;
    case Stage::group_prepare:
      phases.add({costs.group_prepare_s / std::max(1, model_.workers), Resource::cores, 1});
      break;
    case Stage::group_transfer:
      copy(costs.group_transfer_s);
      break;
  }
  return phases;
}

SimulatedMachine::Phases SimulatedMachine::phases_of(const StageSpan& span) const {
  return phases_of(span.stage, model_.costs_of ? model_.costs_of(span.batch) : model_.costs, span.device);
}

double SimulatedMachine::expected_s(Stage stage) const {
  double seconds = 0;
  const Phases phases = phases_of(stage, model_.costs, 0);
  for (int phase = 0; phase < phases.count; ++phase) {
    seconds += phases.works[static_cast<std::size_t>(phase)].seconds;
  }
  return seconds;
}

void SimulatedMachine::change_threads(const Engine& engine, int change) {
  const Work& work = engine.phases.works[static_cast<std::size_t>(engine.phase)];
  const Kind kind = kind_of(at(engine.current).span.stage);
  if (contended_ && work.resource == Resource::cores && kind != Kind::none) {
    running_.add_threads(kind, change * work.threads);
    running_changed_ = true;
  }
}

double SimulatedMachine::slowdown_of(const Engine& engine) {
  const StageSpan& span = at(engine.current).span;
  const Kind kind = kind_of(span.stage);
  if (!contended_ || kind == Kind::none) {
    return 1;
  }
  const auto k = static_cast<std::size_t>(kind);
  double& known = slowdowns_[static_cast<std::size_t>(span.device)][k];
  if (known == 0) {
    known = slowdown(model_, span.stage, span.device, running_);
  }
  if (engine.phases.works[static_cast<std::size_t>(engine.phase)].resource != Resource::cores) {
    return known;
  }
  if (crowdings_[k] == 0) {
    crowdings_[k] = crowding(model_, kind, running_.threads());
  }
  return known * crowdings_[k];
}

/// Before time advances: passes the work that starts now, and the current speed of all running work, to the
/// hardware.
void SimulatedMachine::settle_speeds() {
  for (const int engine : beginning_) {
    change_threads(engine_at(engine), 1);
  }
  if (running_changed_) {
    std::fill(slowdowns_.begin(), slowdowns_.end(), std::array<double, num_kinds>{});
    crowdings_.fill(0);
  }
  std::sort(beginning_.begin(), beginning_.end());
  for (const int engine : beginning_) {
    Engine& here = engine_at(engine);
    here.slowdown = slowdown_of(here);
    hardware_->begin(engine, here.phases.works[static_cast<std::size_t>(here.phase)], here.slowdown);
  }
  beginning_.clear();
  if (!std::exchange(running_changed_, false)) {
    return;
  }
  for (int engine = 0; engine < std::ssize(engines_); ++engine) {
    Engine& here = engine_at(engine);
    const double slowdown = here.running ? slowdown_of(here) : here.slowdown;
    if (here.running && slowdown != here.slowdown) {
      here.slowdown = slowdown;
      hardware_->change_slowdown(engine, slowdown);
    }
  }
}

void SimulatedMachine::advance() {
  settle_speeds();
  const auto& ended = hardware_->advance();
  if (ended.empty()) {
    throw std::logic_error("the policy waits for a stage that cannot end: no stage runs");
  }
  for (const int engine : ended) {
    Engine& here = engine_at(engine);
    count(here.phases.works[static_cast<std::size_t>(here.phase)], at(here.current).span.stage);
    change_threads(here, -1);
    if (++here.phase < here.phases.count) {
      beginning_.push_back(engine);
    } else {
      finish(engine);
    }
  }
  settle_engines();
}

}  // namespace gnomon::sim
