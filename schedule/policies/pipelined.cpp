#include "schedule/epoch.h"
#include "schedule/policies/partition_buffer.h"
#include "schedule/policies/policies.h"

namespace gnomon::schedule {
namespace {

/// CPU workers prepare batches in index order. A finished batch is copied as soon as the device has a free
/// slot, and its training is queued behind the copy. With macro-batches, workers draw from the resident one,
/// and all of its mini-batches are trained before those of the next one.
class Pipelined {
 public:
  Pipelined(const plan::Plan& plan, std::int64_t batches, Machine& machine)
      : epoch_(plan, batches, machine), partitions_(epoch_) {}

  EpochLog run() {
    while (true) {
      collect();
      start_workers();
      start_copies();
      if (partitions_.finished() && trained_ == partitions_.admitted()) {
        return epoch_.finish();
      }
      wait();
    }
  }

 private:
  void collect() {
    epoch_.collect_workers();
    epoch_.collect_copies();
    while (!training_.empty() && epoch_.done(training_.front())) {
      training_.pop_front();
      ++trained_;
    }
  }

  void start_workers() {
    const auto readers = [this] { return epoch_.running(); };
    while (!partitions_.finished() && epoch_.worker_free() && partitions_.admit(readers)) {
      epoch_.claim_for_worker(partitions_.admitted() - 1);
    }
  }

  /// In index order, a finished batch waits for all batches before it, and else for those of the
  /// macro-batches before its own.
  bool may_copy() const {
    const auto& finished = epoch_.finished();
    if (finished.empty()) {
      return false;
    }
    const std::int64_t first = *finished.begin();
    return epoch_.plan().order == plan::Order::as_ready ? next_copy_ >= partitions_.begin_of(first)
                                                        : next_copy_ == first;
  }

  void start_copies() {
    while (may_copy() && static_cast<int>(training_.size()) <= epoch_.plan().device_buffer) {
      const std::int64_t batch = *epoch_.finished().begin();
      training_.push_back(epoch_.train(batch, {epoch_.gather_after(batch, epoch_.copy(batch))}));
      ++next_copy_;
    }
  }

  void wait() {
    waited_for_.clear();
    if (!epoch_.copying().empty()) {
      waited_for_.push_back(epoch_.copying().front().ticket);
    }
    if (!training_.empty()) {
      waited_for_.push_back(training_.front());
    }
    if (partitions_.is_blocked()) {
      waited_for_.push_back(partitions_.next_load());
    }
    epoch_.wait(waited_for_, {.on_cpu = training_.empty(),
                              .on_device = epoch_.worker_blocked() && !partitions_.finished()});
  }

  Epoch epoch_;
  PartitionBuffer partitions_;
  std::vector<Ticket> waited_for_;  ///< local to wait(); a member so that its memory is reused
  std::deque<Ticket> training_;     ///< trainings of the batches on the device, in the order of their updates
  std::int64_t next_copy_ = 0;
  std::int64_t trained_ = 0;
};

}  // namespace

EpochLog run_pipelined(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  return Pipelined(plan, batches, machine).run();
}

}  // namespace gnomon::schedule
