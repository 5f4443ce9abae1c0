#include <algorithm>

#include "schedule/epoch.h"

namespace gnomon::schedule {
namespace {

/// Trains batches in the order of their indices. The device prepares the lowest index that nobody has
/// claimed, a free worker the lowest one at least look_ahead from the training head; so a worker has about
/// look_ahead trainings of time, and whatever it does not manage the device does itself. No ratio has to be
/// chosen and none can drift.
class ClaimAhead {
 public:
  ClaimAhead(const plan::Plan& plan, std::int64_t batches, Machine& machine)
      : epoch_(plan, batches, machine), batches_(static_cast<std::size_t>(batches)) {}

  EpochLog run() {
    while (true) {
      collect();
      start_copies();
      const bool starves = !start_device();
      start_workers();
      if (head_ == epoch_.batches() && device_.empty()) {
        return epoch_.finish();
      }
      wait(starves);
    }
  }

 private:
  enum class Place : std::uint8_t { unclaimed, worker, on_device };
  struct Batch {
    Place place = Place::unclaimed;
    Ticket ready;  ///< the stage that brings it to the device
  };
  struct DeviceStage {
    Ticket ticket;
    bool prepares = false;
  };

  Batch& at(std::int64_t index) { return batches_[static_cast<std::size_t>(index)]; }
  bool is_unclaimed(std::int64_t index) { return at(index).place == Place::unclaimed; }

  void collect() {
    epoch_.collect_workers();
    epoch_.collect_copies();
    while (!device_.empty() && epoch_.done(device_.front().ticket)) {
      device_.pop_front();
    }
  }

  /// The lowest unclaimed index that is at least `from`. `from` never falls from call to call of one cursor.
  std::int64_t lowest_unclaimed(std::int64_t& cursor, std::int64_t from) {
    cursor = std::max(cursor, from);
    while (cursor < epoch_.batches() && !is_unclaimed(cursor)) {
      ++cursor;
    }
    return cursor;
  }

  std::int64_t next_for_worker() {
    return lowest_unclaimed(worker_cursor_, head_ + epoch_.plan().look_ahead);
  }

  void start_workers() {
    while (epoch_.worker_free() && next_for_worker() < epoch_.batches()) {
      const std::int64_t index = next_for_worker();
      at(index).place = Place::worker;
      epoch_.claim_for_worker(index);
    }
  }

  /// Gives an idle device its next stage: to train the head if that is there or on its way, else to prepare.
  /// Trainings may queue one deep behind another stage, for the choice would not be another one later. False
  /// when the device has nothing to do.
  bool start_device() {
    while (device_.size() < 2 && head_ < epoch_.batches() && at(head_).place == Place::on_device) {
      device_.push_back({epoch_.train(head_, {at(head_).ready}), false});
      ++head_;
      --held_;
    }
    if (!device_.empty() || head_ == epoch_.batches()) {
      return true;
    }
    const std::int64_t index = lowest_unclaimed(device_cursor_, head_);
    if (index >= epoch_.batches() || !has_room_for(index)) {
      return false;
    }
    const Ticket ticket = epoch_.start(Stage::device_batch, index);
    device_.push_back({ticket, true});
    arrive(index, ticket);
    return true;
  }

  /// The head finds room even on a full device, or batches behind it could wait for it for ever. A training
  /// that is queued behind another stage still occupies its room.
  bool has_room_for(std::int64_t index) const {
    const std::int64_t queued = std::max<std::int64_t>(0, std::ssize(device_) - 1);
    return held_ + queued < epoch_.plan().device_buffer || (index == head_ && queued == 0);
  }

  void arrive(std::int64_t index, Ticket ready) {
    at(index) = {Place::on_device, ready};
    ++held_;
  }

  bool device_prepares() const {
    return std::any_of(device_.begin(), device_.end(),
                       [](const DeviceStage& stage) { return stage.prepares; });
  }

  void start_copies() {
    while (!epoch_.finished().empty() && (epoch_.plan().copy_during_device_batch || !device_prepares())) {
      const std::int64_t index = *epoch_.finished().begin();
      if (!has_room_for(index)) {
        return;
      }
      arrive(index, epoch_.copy(index));
    }
  }

  void wait(bool starves) {
    std::vector<Ticket> tickets;
    if (!device_.empty()) {
      tickets.push_back(device_.front().ticket);
    }
    if (!epoch_.copying().empty()) {
      tickets.push_back(epoch_.copying().front().ticket);
    }
    epoch_.wait(tickets, {.on_cpu = starves,
                          .on_device = epoch_.worker_held() && next_for_worker() < epoch_.batches()});
  }

  Epoch epoch_;
  std::vector<Batch> batches_;
  std::deque<DeviceStage> device_;  ///< started and not known to be done
  std::int64_t head_ = 0;           ///< the next index to train
  std::int64_t held_ = 0;  ///< batches on the device or on their way to it, those in training not counted
  std::int64_t worker_cursor_ = 0;
  std::int64_t device_cursor_ = 0;
};

}  // namespace

EpochLog run_claim_ahead(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  return ClaimAhead(plan, batches, machine).run();
}

}  // namespace gnomon::schedule
