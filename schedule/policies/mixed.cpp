#include <algorithm>
#include <map>

#include "base/philox.h"
#include "schedule/epoch.h"
#include "schedule/policies/policies.h"

namespace gnomon::schedule {
namespace {

/// DUCATI-delta, a baseline of MorphGL: each batch is prepared by a CPU worker with a given probability and
/// by the device otherwise. Batches are trained in index order, so the device waits for a late CPU batch.
/// Copies run beside the device's reads of host memory.
class MixedRoutes {
 public:
  MixedRoutes(const plan::Plan& plan, std::int64_t batches, Machine& machine)
      : epoch_(plan, batches, machine) {
    for (std::int64_t batch = 0; batch < batches; ++batch) {
      base::RandomStream draw({.purpose = base::Purpose::route, .batch = static_cast<std::uint64_t>(batch)});
      by_cpu_.push_back(draw.uniform() < plan.cpu_share);
    }
  }

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
  /// One training is queued behind the running one, so that the device does not idle between them.
  static constexpr std::size_t max_queued = 2;

  bool by_cpu(std::int64_t batch) const { return by_cpu_[static_cast<std::size_t>(batch)]; }

  void collect() {
    epoch_.collect_workers();
    epoch_.collect_copies();
    while (!device_.empty() && epoch_.done(device_.front())) {
      device_.pop_front();
    }
  }

  std::int64_t next_for_worker() {
    while (next_claim_ < epoch_.batches() && !by_cpu(next_claim_)) {
      ++next_claim_;
    }
    return next_claim_;
  }

  void start_workers() {
    while (epoch_.worker_free() && next_for_worker() < epoch_.batches()) {
      epoch_.claim_for_worker(next_claim_++);
    }
  }

  /// The head gets a slot even on a full device: all other batches wait for it.
  void start_copies() {
    while (!epoch_.finished().empty()) {
      const std::int64_t batch = *epoch_.finished().begin();
      const auto held = std::ssize(copied_) + std::max<std::int64_t>(0, std::ssize(device_) - 1);
      const bool has_room = held < epoch_.plan().device_buffer || batch == head_;
      if (!has_room || (device_prepares_ && !device_.empty() && !epoch_.plan().copy_during_device_batch)) {
        return;
      }
      copied_[batch] = epoch_.copy(batch);
    }
  }

  /// Returns false if the device is idle and waits for a CPU batch.
  bool start_device() {
    while (head_ < epoch_.batches() && device_.size() < max_queued) {
      if (by_cpu(head_)) {
        const auto copied = copied_.find(head_);
        if (copied == copied_.end()) {
          break;
        }
        device_.push_back(epoch_.train(head_, {copied->second}));
        copied_.erase(copied);
        device_prepares_ = false;
      } else {
        epoch_.start(Stage::device_batch, head_);
        device_.push_back(epoch_.train(head_));
        device_prepares_ = true;
      }
      ++head_;
    }
    return !device_.empty();
  }

  void wait(bool starves) {
    waited_for_.clear();
    if (!device_.empty()) {
      waited_for_.push_back(device_.front());
    }
    if (!epoch_.copying().empty()) {
      waited_for_.push_back(epoch_.copying().front().ticket);
    }
    epoch_.wait(waited_for_, {.on_cpu = starves,
                              .on_device = epoch_.worker_blocked() && next_for_worker() < epoch_.batches()});
  }

  Epoch epoch_;
  std::vector<bool> by_cpu_;               ///< by batch; the same draws in every run of the plan
  std::vector<Ticket> waited_for_;         ///< local to wait(); a member so that its memory is reused
  std::deque<Ticket> device_;              ///< trainings in flight
  std::map<std::int64_t, Ticket> copied_;  ///< copies, done or in flight, whose training has not been started
  bool device_prepares_ = false;           ///< whether the device prepares the batch it was assigned last
  std::int64_t head_ = 0;                  ///< the next index to train
  std::int64_t next_claim_ = 0;
};

}  // namespace

EpochLog run_mixed(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  return MixedRoutes(plan, batches, machine).run();
}

}  // namespace gnomon::schedule
