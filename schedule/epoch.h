#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "schedule/epoch_log.h"
#include "schedule/machine.h"

namespace gnomon::schedule {

/// A batch and the ticket of the stage that it waits for.
struct Pending {
  std::int64_t batch = 0;
  Ticket ticket;
};

/// Which side of the pipeline is blocked during a wait.
struct Blocked {
  bool on_cpu = false;     ///< the device is idle until a worker finishes a batch
  bool on_device = false;  ///< workers are idle because the buffer of finished batches is full
};

/// The state that all policies share while they run an epoch: the machine, the log, and the batches that CPU
/// workers prepare.
class Epoch {
 public:
  Epoch(const plan::Plan& plan, std::int64_t batches, Machine& machine);

  const plan::Plan& plan() const { return plan_; }
  std::int64_t batches() const { return batches_; }
  bool done(Ticket ticket) { return machine_.done(ticket); }
  /// Returns the duration of a finished stage.
  double seconds(Ticket ticket) { return machine_.span(ticket).seconds(); }

  Ticket start(Stage stage, std::int64_t batch, std::initializer_list<Ticket> after = {}, int device = 0);
  Ticket start_after(Stage stage, std::int64_t batch, std::span<const Ticket> after) {
    return machine_.start(stage, batch, after);
  }
  /// Starts the training of a batch and records it in the log as the next update.
  Ticket train(std::int64_t batch, std::initializer_list<Ticket> after = {}, int device = 0);

  /// Records a batch whose training was started elsewhere in the log as part of the next update.
  void note_update(std::int64_t batch) { log_.trained.push_back(batch); }

  /// Starts what the host does for a group of batches: a group_prepare on each worker, after `after`, then
  /// the transfer of the result to the device. Returns the ticket of the transfer.
  Ticket start_group(std::int64_t group, std::span<const Ticket> after = {});
  /// Machine::group_sizes and Machine::assign.
  std::vector<std::int64_t> group_sizes() const { return machine_.group_sizes(); }
  void assign(std::int64_t position, std::int64_t index, int pass) { machine_.assign(position, index, pass); }

  /// Waits until any of `tickets` or any running CPU batch is done; the log counts the time as `blocked`
  /// says.
  void wait(std::initializer_list<Ticket> tickets, Blocked blocked);
  void wait(std::span<const Ticket> tickets, Blocked blocked);
  /// Waits until `ticket` is done.
  void wait_for(Ticket ticket, Blocked blocked);
  /// Adds the time since `begin_s` to the blocked times in the log, as `blocked` says.
  void add_blocked_since(double begin_s, Blocked blocked);
  double now_s() const { return machine_.now_s(); }
  double expected_s(Stage stage) const { return machine_.expected_s(stage); }

  /// Whether a worker is idle and a host slot is free. There is one slot for each worker and
  /// plan().cpu_buffer more for finished batches.
  bool worker_free() const;
  /// Whether a worker is idle only because no host slot is free.
  bool worker_blocked() const;
  /// Lets an idle worker prepare `batch`. Precondition: worker_free().
  void claim_for_worker(std::int64_t batch);
  /// Moves the batches that workers have finished to finished() and returns them; valid until the next call.
  const std::vector<Pending>& collect_workers();
  /// Batches that workers have prepared and whose copy has not started, ascending.
  const std::deque<std::int64_t>& finished() const { return finished_; }
  bool workers_idle() const { return running_.empty(); }
  /// The preparations that workers have not finished, as far as collect_workers() knows.
  std::vector<Ticket> running() const;
  /// Starts the copy of a finished batch. collect_copies() frees its host slot once the copy is done.
  Ticket copy(std::int64_t batch);
  /// Frees the host slots of finished copies and returns these copies; valid until the next call.
  const std::vector<Pending>& collect_copies();
  /// Returns the stage after which a copied batch can be trained: the copy itself, or the device_gather that
  /// this starts if the plan lets the trainer gather features.
  Ticket gather_after(std::int64_t batch, Ticket copied, int device = 0);
  const std::deque<Pending>& copying() const { return copying_; }

  /// Ends the epoch and returns its log.
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
  std::int64_t host_slots_used_ = 0;  ///< by batches that are claimed and not yet copied
};

}  // namespace gnomon::schedule
