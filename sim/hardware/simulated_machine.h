#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <vector>

#include "schedule/machine.h"
#include "sim/costs/model.h"
#include "sim/hardware/contention.h"
#include "sim/hardware/hardware.h"

namespace gnomon::sim {

/// What a simulated epoch has done so far.
struct Totals {
  std::array<double, schedule::num_stages> busy_s{};  ///< that stages of each kind ran, all engines together
  double link_s = 0;  ///< of the links' full bandwidth (with a host device: that the copy engine ran)
  double disk_s = 0;  ///< that the whole disk was read, as if nothing else had read it
};

/// What of a model's machine is shared, and how many works it can have at a time.
Shared shared_of(const MachineModel& model);
int slots_of(const MachineModel& model);

/// The Machine that a MachineModel describes, in simulated time. A policy's own decisions take none.
///
/// Contention is exact: whenever the number of running stages of some kind changes, what is left of every
/// running stage goes on at its new speed. All that ends at one date has ended before wait_any returns.
/// A stage may be several pieces of work, one after the other: reading the disk, then a core; reading over
/// the link, then from linked devices, then the device alone. A host device has no link: its copies are a
/// thread's work.
class SimulatedMachine final : public schedule::Machine {
 public:
  /// `model` must outlive the machine. The hardware is for shared_of(model) and slots_of(model).
  SimulatedMachine(const MachineModel& model, std::unique_ptr<Hardware> hardware);

  schedule::Ticket start_on(int device, schedule::Stage stage, std::int64_t batch,
                            std::span<const schedule::Ticket> after) override;
  bool done(schedule::Ticket ticket) override;
  void wait_any(std::span<const schedule::Ticket> tickets) override;
  double now_s() override { return hardware_->now_s(); }
  schedule::StageSpan span(schedule::Ticket ticket) override;
  /// The model's mean, what contention and shared resources add left out.
  double expected_s(schedule::Stage stage) const override;

  const Totals& totals() const { return totals_; }
  /// The spans of all stages that are done, in the order of their starts.
  std::vector<schedule::StageSpan> timeline() const;
  /// Those too that prepare or copy and run now, and end now.
  std::vector<schedule::StageSpan> timeline_so_far();
  /// Calls `look` when `trainings` have ended, and again after as many as it answers. It may throw.
  void watch(std::int64_t trainings, std::function<std::int64_t()> look) {
    next_look_ = trainings;
    look_ = std::move(look);
  }

 private:
  /// The pieces of a stage; those of no time are left out.
  struct Pieces {
    std::array<Work, 3> works;
    int count = 0;
    void add(const Work& work) {
      if (work.seconds > 0) {
        works[static_cast<std::size_t>(count++)] = work;
      }
    }
  };
  struct Started {
    schedule::StageSpan span;
    int pending = 0;          ///< stages before it that are not done
    int waiting_engine = -1;  ///< the engine that has reached it before they were
    bool done = false;
    int first_successor = none;  ///< in successors_
    int last_successor = none;
  };
  /// A stage that waits for another one, and the next one that does.
  struct Successor {
    std::int64_t ticket = 0;
    int next = none;
  };
  static constexpr int none = -1;
  /// Engines are the hardware's slots: those of each device, of the disk, between the devices, of the
  /// workers.
  struct Engine {
    std::int64_t current = -1;  ///< the ticket it has reached
    bool running = false;       ///< or still waiting for what stands before it
    Pieces pieces;
    int piece = 0;  ///< in hand
    double slowdown = 1;
  };

  void add_successor(Started& before, std::int64_t ticket);
  int engine_for(int device, schedule::Stage stage) const;
  bool is_worker(int engine) const { return engine >= first_worker_; }
  Engine& engine_at(int engine) { return engines_[static_cast<std::size_t>(engine)]; }
  std::deque<std::int64_t>& queue_of(int engine);
  Started& at(std::int64_t ticket) { return started_[static_cast<std::size_t>(ticket)]; }
  Pieces pieces_of(schedule::Stage stage, const StageCosts& costs, int device) const;
  void take_next(int engine);
  void settle_engines();
  void begin(int engine);
  void finish(int engine);
  void count(const Work& work, schedule::Stage stage);
  Pieces pieces_of(const schedule::StageSpan& span) const;
  int switch_of(int device) const { return device / model_.devices_per_link; }
  void change_running(const schedule::StageSpan& span, int change);
  void change_threads(const Engine& engine, int change);
  double slowdown_of(const Engine& engine);
  void settle_speeds();
  void advance();

  const MachineModel& model_;
  const bool contended_;
  const int disk_engine_;
  const int first_worker_;
  std::unique_ptr<Hardware> hardware_;
  std::vector<Engine> engines_;
  std::vector<std::deque<std::int64_t>> queues_;  ///< of each engine; one for all workers
  std::priority_queue<int, std::vector<int>, std::greater<>> free_workers_;
  std::vector<int> to_look_at_;  ///< engines that may reach their next stage at this date
  std::vector<int> ready_;       ///< engines whose stage need not wait any longer
  std::vector<Started> started_;
  std::vector<Successor> successors_;
  std::vector<int> beginning_;  ///< engines with a piece that is not yet given to the hardware
  RunningStages running_;
  std::vector<std::array<double, num_kinds>> slowdowns_;  ///< on each device beside what runs; 0: not known
  std::array<double, num_kinds> crowdings_{};             ///< of work on the cores; 0: not known
  bool running_changed_ = false;                          ///< since slowdowns_ were known
  std::int64_t trained_ = 0;
  std::int64_t next_look_ = -1;
  std::function<std::int64_t()> look_;
  Totals totals_;
};

}  // namespace gnomon::sim
