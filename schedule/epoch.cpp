#include "schedule/epoch.h"

#include <algorithm>
#include <stdexcept>

namespace gnomon::schedule {

Epoch::Epoch(const plan::Plan& plan, std::int64_t batches, Machine& machine)
    : plan_(plan), batches_(batches), machine_(machine) {
  log_.trained.reserve(static_cast<std::size_t>(batches));
  log_.begin_s = machine.now_s();
}

Ticket Epoch::start(Stage stage, std::int64_t batch, std::initializer_list<Ticket> after, int device) {
  return machine_.start_on(device, stage, batch, {after.begin(), after.size()});
}

Ticket Epoch::train(std::int64_t batch, std::initializer_list<Ticket> after, int device) {
  log_.trained.push_back(batch);
  return start(Stage::train, batch, after, device);
}

Ticket Epoch::start_group(std::int64_t group, std::span<const Ticket> after) {
  std::vector<Ticket> shares;
  for (int worker = 0; worker < std::max(1, plan_.workers); ++worker) {
    shares.push_back(start_after(Stage::group_prepare, group, after));
  }
  return machine_.start_on(0, Stage::group_transfer, group, shares);
}

std::vector<Ticket> Epoch::running() const {
  std::vector<Ticket> tickets;
  for (const auto& running : running_) {
    tickets.push_back(running.ticket);
  }
  return tickets;
}

void Epoch::wait(std::initializer_list<Ticket> tickets, Blocked blocked) {
  wait(std::span(tickets.begin(), tickets.size()), blocked);
}

void Epoch::wait(std::span<const Ticket> tickets, Blocked blocked) {
  waited_for_.assign(tickets.begin(), tickets.end());
  for (const auto& running : running_) {
    waited_for_.push_back(running.ticket);
  }
  if (waited_for_.empty()) {
    throw std::logic_error("a policy waits for no stage");
  }
  const double begin_s = now_s();
  machine_.wait_any(waited_for_);
  add_blocked_since(begin_s, blocked);
}

void Epoch::wait_for(Ticket ticket, Blocked blocked) {
  while (!done(ticket)) {
    wait({ticket}, blocked);
  }
}

void Epoch::add_blocked_since(double begin_s, Blocked blocked) {
  const double passed_s = now_s() - begin_s;
  log_.blocked_on_cpu_s += blocked.on_cpu ? passed_s : 0;
  log_.blocked_on_device_s += blocked.on_device ? passed_s : 0;
}

bool Epoch::worker_free() const {
  return static_cast<int>(running_.size()) < plan_.workers &&
         host_slots_used_ < plan_.workers + plan_.cpu_buffer;
}

bool Epoch::worker_blocked() const {
  return static_cast<int>(running_.size()) < plan_.workers &&
         host_slots_used_ >= plan_.workers + plan_.cpu_buffer;
}

void Epoch::claim_for_worker(std::int64_t batch) {
  ++host_slots_used_;
  ++log_.cpu_batches;
  running_.push_back({batch, start(Stage::cpu_batch, batch)});
}

const std::vector<Pending>& Epoch::collect_workers() {
  collected_workers_.clear();
  std::erase_if(running_, [&](const Pending& running) {
    const bool is_done = machine_.done(running.ticket);
    if (is_done) {
      finished_.insert(std::lower_bound(finished_.begin(), finished_.end(), running.batch), running.batch);
      collected_workers_.push_back(running);
    }
    return is_done;
  });
  return collected_workers_;
}

Ticket Epoch::copy(std::int64_t batch) {
  finished_.erase(std::lower_bound(finished_.begin(), finished_.end(), batch));
  copying_.push_back({batch, start(Stage::transfer, batch)});
  return copying_.back().ticket;
}

const std::vector<Pending>& Epoch::collect_copies() {
  collected_copies_.clear();
  while (!copying_.empty() && machine_.done(copying_.front().ticket)) {
    collected_copies_.push_back(copying_.front());
    copying_.pop_front();
    --host_slots_used_;
  }
  return collected_copies_;
}

Ticket Epoch::gather_after(std::int64_t batch, Ticket copied, int device) {
  return plan_.gathers_apart() ? start(Stage::device_gather, batch, {copied}, device) : copied;
}

EpochLog Epoch::finish() {
  log_.end_s = machine_.now_s();
  return std::move(log_);
}

}  // namespace gnomon::schedule
