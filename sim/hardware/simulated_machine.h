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

/// Totals of a simulated epoch so far.
struct Totals {
  std::array<double, schedule::num_stages> busy_s{};  ///< by stage, summed over all engines
  /// Equivalent time at the links' full bandwidth (host device: busy time of the copy engine).
  double link_s = 0;
  double disk_s = 0;  ///< equivalent time at the disk's full bandwidth
};

/// The shared resources of a model's machine, and its maximum number of concurrent works.
Shared shared_of(const MachineModel& model);
int slots_of(const MachineModel& model);

/// The Machine described by a MachineModel, in simulated time. Decisions of policies take no time.
///
/// Contention is tracked exactly: whenever the set of running stages changes, the remaining work of every
/// running stage continues at its new speed. All stages that end at the same time have ended before wait_any
/// returns. A stage may consist of several consecutive phases: reading the disk, then using a core;
/// reading over the link, then from linked devices, then using the device alone. A host device has no link:
/// its copies are work of a thread.
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
  /// The model's mean, without contention and shared resources.
  double expected_s(schedule::Stage stage) const override;

  const Totals& totals() const { return totals_; }
  /// The spans of all stages that are done, in the order of their starts.
  std::vector<schedule::StageSpan> timeline() const;
  /// As timeline(), plus the running preparation and copy stages as if they ended now.
  std::vector<schedule::StageSpan> timeline_so_far();
  /// Calls `look` after `trainings` trainings, and again after the number of trainings that it returns. It
  /// may throw.
  void watch(std::int64_t trainings, std::function<std::int64_t()> look) {
    next_look_ = trainings;
    look_ = std::move(look);
  }

 private:
  /// The phases of a stage, without those of zero duration.
  struct Phases {
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
    int pending = 0;          ///< unfinished dependencies
    int waiting_engine = -1;  ///< the engine that waits for them
    bool done = false;
    int first_successor = none;  ///< in successors_
    int last_successor = none;
  };
  /// An element of a linked list of dependent stages.
  struct Successor {
    std::int64_t ticket = 0;
    int next = none;
  };
  static constexpr int none = -1;
  /// Engines are the hardware's slots: those of each device, of the disk, between the devices, of the
  /// workers.
  struct Engine {
    std::int64_t current = -1;  ///< the current ticket
    bool running = false;       ///< false while it waits for dependencies
    Phases phases;
    int phase = 0;  ///< the current one
    double slowdown = 1;
  };

  void add_successor(Started& before, std::int64_t ticket);
  int engine_for(int device, schedule::Stage stage) const;
  bool is_worker(int engine) const { return engine >= first_worker_; }
  Engine& engine_at(int engine) { return engines_[static_cast<std::size_t>(engine)]; }
  std::deque<std::int64_t>& queue_of(int engine);
  Started& at(std::int64_t ticket) { return started_[static_cast<std::size_t>(ticket)]; }
  Phases phases_of(schedule::Stage stage, const StageCosts& costs, int device) const;
  void take_next(int engine);
  void settle_engines();
  void begin(int engine);
  void finish(int engine);
  void count(const Work& work, schedule::Stage stage);
  Phases phases_of(const schedule::StageSpan& span) const;
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
  std::vector<std::deque<std::int64_t>> queues_;  ///< by engine; the workers share one
  std::priority_queue<int, std::vector<int>, std::greater<>> free_workers_;
  std::vector<int> to_look_at_;  ///< engines that may take their next stage now
  std::vector<int> ready_;       ///< engines whose stage has become ready
  std::vector<Started> started_;
  std::vector<Successor> successors_;
  std::vector<int> beginning_;  ///< engines with a phase not yet passed to the hardware
  RunningStages running_;
  /// By device, given the running stages; 0: not computed.
  std::vector<std::array<double, num_kinds>> slowdowns_;
  std::array<double, num_kinds> crowdings_{};  ///< of work on the cores; 0: not computed
  bool running_changed_ = false;               ///< since slowdowns_ were computed
  std::int64_t trained_ = 0;
  std::int64_t next_look_ = -1;
  std::function<std::int64_t()> look_;
  Totals totals_;
};

}  // namespace gnomon::sim
