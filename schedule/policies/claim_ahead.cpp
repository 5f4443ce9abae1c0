#include <algorithm>

#include "schedule/epoch.h"
#include "schedule/policies/look_ahead_estimate.h"
#include "schedule/policies/policies.h"

namespace gnomon::schedule {
namespace {

/// Trains batches in index order. The device prepares the lowest unclaimed index; an idle worker claims the
/// lowest unclaimed index that is at least `look_ahead` beyond the training head. A worker thus has the time
/// of about `look_ahead` trainings for its batch, and the device itself prepares whatever the workers cannot
/// manage: no ratio between CPU and device has to be chosen. If the plan does not fix the look-ahead, it is
/// estimated from the stage times so far.
class ClaimAhead {
 public:
  ClaimAhead(const plan::Plan& plan, std::int64_t batches, Machine& machine)
      : epoch_(plan, batches, machine),
        batches_(static_cast<std::size_t>(batches)),
        begin_s_(epoch_.now_s()),
        estimate_(epoch_.expected_s(Stage::cpu_batch), epoch_.expected_s(Stage::transfer),
                  epoch_.expected_s(Stage::device_batch), epoch_.expected_s(Stage::train)) {}

  EpochLog run() {
    while (true) {
      collect();
      if (device_.empty() && is_waiting(head_)) {
        start_copy();  // before the device begins another batch
      }
      const bool starves = !start_device();
      start_copy();
      start_workers();
      if (head_ == epoch_.batches() && device_.empty()) {
        return epoch_.finish();
      }
      wait(starves);
    }
  }

 private:
  /// Tolerance for varying stage times: a copy as long as a training counts as hidden behind it.
  static constexpr double hiding_tolerance = 0.98;

  enum class Place : std::uint8_t { unclaimed, worker, on_device };
  struct Batch {
    Place place = Place::unclaimed;
    Ticket ready;  ///< the stage after which the batch is ready on the device
  };
  struct DeviceStage {
    Ticket ticket;
    bool prepares = false;
  };

  Batch& at(std::int64_t index) { return batches_[static_cast<std::size_t>(index)]; }
  bool is_unclaimed(std::int64_t index) { return at(index).place == Place::unclaimed; }

  void collect() {
    for (const Pending& prepared : epoch_.collect_workers()) {
      estimate_.add_cpu_batch(epoch_.seconds(prepared.ticket));
    }
    for (const Pending& copied : epoch_.collect_copies()) {
      estimate_.add_transfer(epoch_.seconds(copied.ticket));
    }
    while (!device_.empty() && epoch_.done(device_.front().ticket)) {
      const double seconds = epoch_.seconds(device_.front().ticket);
      device_.front().prepares ? estimate_.add_device_batch(seconds) : estimate_.add_training(seconds);
      device_.pop_front();
      since_s_ = epoch_.now_s();
    }
  }

  /// Returns the lowest unclaimed index that is at least `from`. Precondition: `from` does not decrease
  /// between calls with the same cursor.
  std::int64_t lowest_unclaimed(std::int64_t& cursor, std::int64_t from) {
    cursor = std::max(cursor, from);
    while (cursor < epoch_.batches() && !is_unclaimed(cursor)) {
      ++cursor;
    }
    return cursor;
  }

  std::int64_t look_ahead() {
    const plan::Plan& plan = epoch_.plan();
    return plan.look_ahead > 0 ? plan.look_ahead
                               : estimate_.look_ahead(epoch_.now_s() - begin_s_, plan.workers + 1);
  }

  std::int64_t next_for_worker() { return lowest_unclaimed(worker_cursor_, head_ + look_ahead()); }

  void start_workers() {
    while (epoch_.worker_free() && next_for_worker() < epoch_.batches()) {
      const std::int64_t index = next_for_worker();
      at(index).place = Place::worker;
      epoch_.claim_for_worker(index);
    }
  }

  /// Starts the next stage of an idle device: the training of the head if the head is on the device or being
  /// copied to it, otherwise a device_batch. One training may also be queued behind a running stage, because
  /// waiting would not change the choice. Returns false if the device has nothing to do.
  bool start_device() {
    while (device_.size() < 2 && head_ < epoch_.batches() && at(head_).place == Place::on_device) {
      since_s_ = device_.empty() ? epoch_.now_s() : since_s_;
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

  /// The head gets a slot even on a full device; otherwise the batches behind it could wait for it forever. A
  /// training that is queued behind another stage still occupies its slot.
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

  /// Whether the lowest finished CPU batch is `index`.
  bool is_waiting(std::int64_t index) const {
    return !epoch_.finished().empty() && *epoch_.finished().begin() == index;
  }

  /// Starts one copy at a time: copies that wait for others would only occupy device slots.
  void start_copy() {
    if (epoch_.finished().empty() || !epoch_.copying().empty()) {
      return;
    }
    const std::int64_t index = *epoch_.finished().begin();
    if (has_room_for(index) && (epoch_.plan().copy_during_device_batch || avoids_device_batch(index))) {
      arrive(index, epoch_.copy(index));
    }
  }

  /// Whether the copy of `index`, started now, avoids contention with a device_batch, which reads host memory
  /// over the same link: the copy is hidden behind the next trainings, or the batch is needed so soon that it
  /// cannot be postponed.
  bool avoids_device_batch(std::int64_t index) const {
    if (device_.empty()) {
      return true;
    }
    if (device_prepares()) {
      return false;
    }
    const double left_s = trainings_end_s() - epoch_.now_s();
    const double needed_in_s = static_cast<double>(index - head_) * estimate_.step_s();
    return left_s >= hiding_tolerance * std::min(estimate_.transfer_s(), estimate_.train_s()) ||
           needed_in_s <= estimate_.transfer_s() + 2 * estimate_.step_s();
  }

  /// The expected time at which the device has trained all batches that it can train without preparing one.
  double trainings_end_s() const {
    std::int64_t next = head_;
    while (next < epoch_.batches() && batches_[static_cast<std::size_t>(next)].place == Place::on_device) {
      ++next;
    }
    return since_s_ + estimate_.train_s() * static_cast<double>(std::ssize(device_) + next - head_);
  }

  void wait(bool starves) {
    waited_for_.clear();
    if (!device_.empty()) {
      waited_for_.push_back(device_.front().ticket);
    }
    if (!epoch_.copying().empty()) {
      waited_for_.push_back(epoch_.copying().front().ticket);
    }
    epoch_.wait(waited_for_, {.on_cpu = starves,
                              .on_device = epoch_.worker_blocked() && next_for_worker() < epoch_.batches()});
  }

  Epoch epoch_;
  std::vector<Batch> batches_;
  double begin_s_;
  double since_s_ = 0;  ///< when the first stage in `device_` began
  LookAheadEstimate estimate_;
  std::vector<Ticket> waited_for_;  ///< local to wait(); a member so that its memory is reused
  std::deque<DeviceStage> device_;  ///< the device's stages in flight
  std::int64_t head_ = 0;           ///< the training head: the next index to train
  std::int64_t held_ = 0;  ///< batches on the device or being copied to it whose training is not started
  std::int64_t worker_cursor_ = 0;
  std::int64_t device_cursor_ = 0;
};

}  // namespace

EpochLog run_claim_ahead(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  return ClaimAhead(plan, batches, machine).run();
}

}  // namespace gnomon::schedule
