#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "schedule/machine.h"
#include "schedule/policies.h"

namespace gnomon::schedule {

/// A batch and the stage that makes it ready.
struct Pending {
  std::int64_t batch = 0;
  Ticket ticket;
};

/// Who keeps whom waiting.
struct Blocked {
  bool on_cpu = false;     ///< the device has nothing to do until a worker is done
  bool on_device = false;  ///< workers hold finished batches that the device does not take
};

/// What all policies keep of the epoch they run: the machine, the log, and the CPU workers' batches.
class Epoch {
 public:
  Epoch(const plan::Plan& plan, std::int64_t batches, Machine& machine);

  const plan::Plan& plan() const { return plan_; }
  std::int64_t batches() const { return batches_; }
  bool done(Ticket ticket) { return machine_.done(ticket); }
  /// What a stage that is done took.
  double seconds(Ticket ticket) {
    const StageSpan span = machine_.span(ticket);
    return span.end_s - span.begin_s;
  }

  Ticket start(Stage stage, std::int64_t batch, std::initializer_list<Ticket> after = {}, int device = 0);
  Ticket start_behind(Stage stage, std::int64_t batch, std::span<const Ticket> after) {
    return machine_.start(stage, batch, after);
  }
  /// Starts the training of a batch and logs it as the next update.
  Ticket train(std::int64_t batch, std::initializer_list<Ticket> after = {}, int device = 0);

  /// What the host does for a group of batches: a share of the CPU's work by each worker, then the copy of
  /// the result to the device, whose ticket is returned.
  Ticket start_group(std::int64_t group);

  /// Waits for any of `tickets` and the running CPU workers, and counts the time as `blocked` says.
  void wait(std::initializer_list<Ticket> tickets, Blocked blocked);
  void wait(std::span<const Ticket> tickets, Blocked blocked);
  /// Waits until `ticket` is done.
  void wait_for(Ticket ticket, Blocked blocked);
  /// Counts the time since `begin_s` as `blocked` says.
  void count_since(double begin_s, Blocked blocked);
  double now_s() const { return machine_.now_s(); }
  double usual_s(Stage stage) const { return machine_.usual_s(stage); }

  /// Whether a worker is free and the host has room for what it prepares: a batch in each worker's hands and
  /// plan().cpu_buffer beside them.
  bool worker_free() const;
  /// Whether a worker idles only because the host has no room.
  bool worker_held() const;
  /// A free worker prepares `batch`.
  void claim_for_worker(std::int64_t batch);
  /// Moves what workers have finished to finished(), and returns it; valid until the next call.
  const std::vector<Pending>& collect_workers();
  /// Batches that workers have prepared and that are not yet being copied, in rising order.
  const std::deque<std::int64_t>& finished() const { return finished_; }
  bool workers_idle() const { return running_.empty(); }
  /// Starts the copy of a finished batch. Its host slot is free again when collect_copies sees the copy done.
  Ticket copy(std::int64_t batch);
  /// Forgets copies that are done, and returns them; valid until the next call.
  const std::vector<Pending>& collect_copies();
  /// What makes a copied batch ready to be trained: the copy, or where the trainer gathers, its gathering.
  Ticket gather_after(std::int64_t batch, Ticket copied, int device = 0);
  const std::deque<Pending>& copying() const { return copying_; }

  EpochLog finish();

 private:
  plan::Plan plan_;
  std::int64_t batches_;
  Machine& machine_;
  EpochLog log_;
  std::vector<Pending> running_;  ///< in the order of the claims
  std::deque<std::int64_t> finished_;
  std::deque<Pending> copying_;
  std::vector<Pending> collected_workers_, collected_copies_;
  std::vector<Ticket> waited_for_;
  std::int64_t host_slots_used_ = 0;  ///< claimed and not yet copied
};

EpochLog run_sequential(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_on_device(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_pipelined(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_dual_buffer(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_claim_ahead(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_mixed(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_factored(const plan::Plan& plan, std::int64_t batches, Machine& machine);
EpochLog run_super_batch(const plan::Plan& plan, std::int64_t batches, Machine& machine);

}  // namespace gnomon::schedule
