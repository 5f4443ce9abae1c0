#include <algorithm>

#include "schedule/epoch.h"
#include "schedule/pace.h"

namespace gnomon::schedule {
namespace {

/// Trains batches in the order of their indices. The device prepares the lowest index that nobody has
/// claimed, a free worker the lowest one at least look_ahead from the training head; so a worker has about
/// look_ahead trainings of time, and whatever it does not manage the device does itself. No ratio has to be
/// chosen and none can drift; where the plan leaves the look-ahead open, what stages have taken so far says
/// how many trainings go by while a worker prepares.
class ClaimAhead {
 public:
  ClaimAhead(const plan::Plan& plan, std::int64_t batches, Machine& machine)
      : epoch_(plan, batches, machine),
        batches_(static_cast<std::size_t>(batches)),
        begin_s_(epoch_.now_s()),
        pace_(epoch_.usual_s(Stage::cpu_batch), epoch_.usual_s(Stage::transfer),
              epoch_.usual_s(Stage::device_batch), epoch_.usual_s(Stage::train)) {}

  EpochLog run() {
    while (true) {
      collect();
      if (device_.empty() && is_waiting(head_)) {
        start_copy();  // before the device turns to another batch
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
  /// Stage times vary a little; a copy that is as long as a training is meant to fit beside it.
  static constexpr double almost = 0.98;

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
    for (const Pending& prepared : epoch_.collect_workers()) {
      pace_.prepared(epoch_.seconds(prepared.ticket));
    }
    for (const Pending& copied : epoch_.collect_copies()) {
      pace_.copied(epoch_.seconds(copied.ticket));
    }
    while (!device_.empty() && epoch_.done(device_.front().ticket)) {
      const double seconds = epoch_.seconds(device_.front().ticket);
      device_.front().prepares ? pace_.device_prepared(seconds) : pace_.trained(seconds);
      device_.pop_front();
      since_s_ = epoch_.now_s();
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

  std::int64_t look_ahead() {
    const plan::Plan& plan = epoch_.plan();
    return plan.look_ahead > 0 ? plan.look_ahead
                               : pace_.trainings_ahead(epoch_.now_s() - begin_s_, plan.workers + 1);
  }

  std::int64_t next_for_worker() { return lowest_unclaimed(worker_cursor_, head_ + look_ahead()); }

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

  /// Whether a batch is prepared and on the host.
  bool is_waiting(std::int64_t index) const {
    return !epoch_.finished().empty() && *epoch_.finished().begin() == index;
  }

  /// One at a time: copies that wait for others would only hold the device's room.
  void start_copy() {
    if (epoch_.finished().empty() || !epoch_.copying().empty()) {
      return;
    }
    const std::int64_t index = *epoch_.finished().begin();
    if (has_room_for(index) && (epoch_.plan().copy_during_device_batch || keeps_apart(index))) {
      arrive(index, epoch_.copy(index));
    }
  }

  /// Whether the copy of `index`, started now, keeps out of the way of the device's preparing, which reads
  /// host memory too and would take so much longer: it ends beside the trainings that are next, or begins
  /// with one, or cannot wait for the next one.
  bool keeps_apart(std::int64_t index) const {
    if (device_.empty()) {
      return true;
    }
    if (device_prepares()) {
      return false;
    }
    const double left_s = trainings_end_s() - epoch_.now_s();
    const double needed_in_s = static_cast<double>(index - head_) * pace_.step_s();
    return left_s >= almost * std::min(pace_.copy_s(), pace_.train_s()) ||
           needed_in_s <= pace_.copy_s() + 2 * pace_.step_s();
  }

  /// When the device has trained all that it can without preparing anything.
  double trainings_end_s() const {
    std::int64_t next = head_;
    while (next < epoch_.batches() && batches_[static_cast<std::size_t>(next)].place == Place::on_device) {
      ++next;
    }
    return since_s_ + pace_.train_s() * static_cast<double>(std::ssize(device_) + next - head_);
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
                              .on_device = epoch_.worker_held() && next_for_worker() < epoch_.batches()});
  }

  Epoch epoch_;
  std::vector<Batch> batches_;
  double begin_s_;
  double since_s_ = 0;  ///< when the device began with its first stage
  Pace pace_;
  std::vector<Ticket> waited_for_;  ///< a member only to keep its memory
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
