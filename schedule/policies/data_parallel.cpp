#include "schedule/policies/data_parallel.h"

#include <algorithm>

namespace gnomon::schedule {
namespace {

bool is_on_host(Stage stage) { return stage == Stage::group_read || stage == Stage::group_prepare; }
bool is_for_group(Stage stage) { return is_on_host(stage) || stage == Stage::group_transfer; }

}  // namespace

DataParallelMachine::DataParallelMachine(Machine& machine, int devices, std::int64_t batches)
    : machine_(machine), devices_(devices), batches_(batches) {}

int DataParallelMachine::devices_of(Stage stage, std::int64_t step) const {
  if (is_for_group(stage)) {  // a group is read once and prepared by the workers of all devices
    return stage == Stage::group_read ? 1 : static_cast<int>(devices_);
  }
  const std::int64_t left = batches_ - step * devices_;  // the last step may be smaller
  // Further passes over macro-batches are steps beyond the epoch's batches.
  return static_cast<int>(left > 0 ? std::min(devices_, left) : devices_);
}

/// Translates a policy's dependencies for one device: the part on the same device, or all parts of a stage on
/// the host.
std::vector<Ticket> DataParallelMachine::dependencies(int device, std::span<const Ticket> after) const {
  std::vector<Ticket> tickets;
  for (const Ticket step : after) {
    const Parts& parts = started_.at(static_cast<std::size_t>(step.number));
    if (parts.on_host) {
      tickets.insert(tickets.end(), parts.by_device.begin(), parts.by_device.end());
    } else {
      const auto last = std::ssize(parts.by_device) - 1;  // of a smaller step
      tickets.push_back(parts.by_device[static_cast<std::size_t>(std::min<std::int64_t>(device, last))]);
    }
    if (parts.all_reduce.number >= 0) {
      tickets.push_back(parts.all_reduce);
    }
  }
  return tickets;
}

Ticket DataParallelMachine::start_on(int, Stage stage, std::int64_t step, std::span<const Ticket> after) {
  Parts parts;
  parts.on_host = is_on_host(stage);
  for (int device = 0; device < devices_of(stage, step); ++device) {
    const std::int64_t batch = is_for_group(stage) ? step : step * devices_ + device;
    auto tickets = dependencies(device, after);
    if (stage == Stage::train && last_all_reduce_.number >= 0) {
      tickets.push_back(last_all_reduce_);
    }
    parts.by_device.push_back(machine_.start_on(device, stage, batch, tickets));
    cpu_batches_ += stage == Stage::cpu_batch;
  }
  if (stage == Stage::train) {
    parts.all_reduce = last_all_reduce_ = machine_.start(Stage::all_reduce, step, parts.by_device);
  }
  started_.push_back(std::move(parts));
  return {static_cast<std::int64_t>(started_.size()) - 1};
}

template <class Visit>
void DataParallelMachine::for_each_unfinished(const Parts& parts, Visit visit) {
  for (const Ticket ticket : parts.by_device) {
    if (!machine_.done(ticket)) {
      visit(ticket);
    }
  }
  if (parts.all_reduce.number >= 0 && !machine_.done(parts.all_reduce)) {
    visit(parts.all_reduce);
  }
}

bool DataParallelMachine::done(Ticket ticket) {
  bool is_done = true;
  for_each_unfinished(started_.at(static_cast<std::size_t>(ticket.number)), [&](Ticket) { is_done = false; });
  return is_done;
}

void DataParallelMachine::wait_any(std::span<const Ticket> tickets) {
  while (true) {
    std::vector<Ticket> unfinished;
    for (const Ticket ticket : tickets) {
      const std::size_t before = unfinished.size();
      for_each_unfinished(started_.at(static_cast<std::size_t>(ticket.number)),
                          [&](Ticket part) { unfinished.push_back(part); });
      if (unfinished.size() == before) {  // done meanwhile
        return;
      }
    }
    machine_.wait_any(unfinished);
  }
}

StageSpan DataParallelMachine::span(Ticket ticket) {
  const Parts& parts = started_.at(static_cast<std::size_t>(ticket.number));
  StageSpan whole = machine_.span(parts.by_device.front());
  for (const Ticket part : parts.by_device) {
    const StageSpan one = machine_.span(part);
    whole.begin_s = std::min(whole.begin_s, one.begin_s);
    whole.end_s = std::max(whole.end_s, one.end_s);
  }
  if (parts.all_reduce.number >= 0) {
    whole.end_s = machine_.span(parts.all_reduce).end_s;
  }
  return whole;
}

EpochLog run_data_parallel(const plan::Plan& plan, std::int64_t batches, Machine& machine,
                           const RunPolicy& policy) {
  plan::Plan share = plan;
  share.workers = plan.workers == 0 ? 0 : std::max(1, plan.workers / plan.devices);
  const std::int64_t steps = (batches + plan.devices - 1) / plan.devices;
  DataParallelMachine data_parallel(machine, plan.devices, batches);
  EpochLog log = policy(share, steps, data_parallel);
  std::vector<std::int64_t> trained;
  for (const std::int64_t step : log.trained) {
    const std::int64_t end = (step + 1) * plan.devices;
    for (std::int64_t batch = step * plan.devices; batch < (step < steps ? std::min(batches, end) : end);
         ++batch) {
      trained.push_back(batch);
    }
  }
  log.trained = std::move(trained);
  log.cpu_batches = data_parallel.cpu_batches();
  return log;
}

}  // namespace gnomon::schedule
