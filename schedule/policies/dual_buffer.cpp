#include <algorithm>

#include "schedule/epoch.h"
#include "schedule/policies/policies.h"

namespace gnomon::schedule {
namespace {

/// MorphGL's overlapping (PVLDB 19(6), section 4): the phases filling, blocking and flushing repeat until all
/// batches are claimed; then the buffers are drained. CPU workers and the device both claim the lowest
/// unclaimed index.
class DualBuffer {
 public:
  DualBuffer(const plan::Plan& plan, std::int64_t batches, Machine& machine)
      : epoch_(plan, batches, machine) {}

  EpochLog run() {
    service_workers();
    while (can_claim()) {
      fill();
      flush(std::min<std::int64_t>(std::ssize(epoch_.finished()), epoch_.plan().cpu_buffer));
    }
    drain();
    return epoch_.finish();
  }

 private:
  bool can_claim() const { return next_claim_ < epoch_.batches(); }
  bool cpu_full() const { return std::ssize(epoch_.finished()) >= epoch_.plan().cpu_buffer; }
  bool device_full() const { return std::ssize(device_) >= epoch_.plan().device_buffer; }

  /// Workers keep preparing across phases until their buffer is full.
  void service_workers() {
    epoch_.collect_workers();
    epoch_.collect_copies();
    while (can_claim() && epoch_.worker_free()) {
      epoch_.claim_for_worker(next_claim_++);
    }
  }

  /// Waits for a stage of the device and keeps the workers busy meanwhile.
  void wait_for(Ticket ticket) {
    while (!epoch_.done(ticket)) {
      epoch_.wait({ticket}, {});
      service_workers();
    }
  }

  void prepare_on_device() {
    const std::int64_t batch = next_claim_++;
    const Ticket ticket = epoch_.start(Stage::device_batch, batch);
    device_.push_back({batch, ticket});
    wait_for(ticket);
  }

  /// Trains the head of the device's buffer. If `copies` > 0 and a CPU batch is finished, the batch is copied
  /// to the freed slot meanwhile. Returns the number of copies that remain allowed.
  std::int64_t train_head(std::int64_t copies) {
    const Pending head = device_.front();
    device_.pop_front();
    if (copies > 0 && !epoch_.finished().empty()) {
      copy_lowest();
      --copies;
    }
    wait_for(epoch_.train(head.batch, {head.ticket}));
    return copies;
  }

  void copy_lowest() {
    const std::int64_t batch = *epoch_.finished().begin();
    device_.push_back({batch, epoch_.copy(batch)});
  }

  /// Fills both buffers. While only the device's buffer is full (blocking), the device trains one batch and
  /// prepares another.
  void fill() {
    service_workers();
    while (can_claim() && !(device_full() && cpu_full())) {
      const double begin_s = epoch_.now_s();
      const Blocked blocked{.on_cpu = device_full(), .on_device = cpu_full()};
      if (device_full()) {
        train_head(0);
      }
      if (can_claim()) {
        prepare_on_device();
      }
      epoch_.add_blocked_since(begin_s, blocked);
    }
  }

  /// Empties the device's buffer; while it trains the head, it copies one CPU batch, up to `copies` in all.
  void flush(std::int64_t copies) {
    while (!device_.empty()) {
      copies = train_head(copies);
    }
  }

  void drain() {
    while (true) {
      service_workers();
      flush(epoch_.batches());
      if (!epoch_.finished().empty()) {
        copy_lowest();
      } else if (!epoch_.workers_idle()) {
        epoch_.wait({}, {.on_cpu = true});
      } else {
        return;
      }
    }
  }

  Epoch epoch_;
  std::deque<Pending> device_;  ///< the device's buffer: batches that are on the device or being copied to it
  std::int64_t next_claim_ = 0;
};

}  // namespace

EpochLog run_dual_buffer(const plan::Plan& plan, std::int64_t batches, Machine& machine) {
  return DualBuffer(plan, batches, machine).run();
}

}  // namespace gnomon::schedule
