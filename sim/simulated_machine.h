#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "schedule/machine.h"
#include "sim/contention.h"
#include "sim/hardware.h"
#include "sim/prediction.h"

namespace gnomon::sim {

/// The Machine that a MachineModel describes, in simulated time. A policy's own decisions take none.
///
/// Contention is exact: whenever the number of running stages of some kind changes, what is left of every
/// running stage goes on at its new speed. All that ends at one date has ended before wait_any returns.
/// Device batching uses the link first, for its link part, and only the device after. A host device has no
/// link: its copies are a thread's work.
///
/// Lives inside run_in_actor.
class SimulatedMachine final : public schedule::Machine {
 public:
  /// `scale_s`: see Hardware. `model` must outlive the machine.
  SimulatedMachine(const MachineModel& model, double scale_s);

  schedule::Ticket start(schedule::Stage stage, std::int64_t batch,
                         std::span<const schedule::Ticket> after) override;
  bool done(schedule::Ticket ticket) override;
  void wait_any(std::span<const schedule::Ticket> tickets) override;
  double now_s() override { return hardware_.now_s(); }
  schedule::StageSpan span(schedule::Ticket ticket) override;

  /// Seconds that stages of this kind ran, all lanes together.
  double busy_s(schedule::Stage stage) const { return busy_s_[static_cast<std::size_t>(stage)]; }
  /// Seconds of the link's full bandwidth that were asked of it (with a host device: that the copy lane ran).
  double link_s() const { return link_s_; }
  /// The spans of all stages that are done, in the order of their starts.
  std::vector<schedule::StageSpan> timeline() const;

 private:
  struct Started {
    schedule::StageSpan span;
    std::vector<schedule::Ticket> after;
    bool done = false;
  };
  /// Lanes are the hardware's slots: the device, the copy lane, then the workers.
  struct Lane {
    std::int64_t current = -1;  ///< the ticket it has reached
    bool running = false;       ///< or still waiting for what stands before it
    Work next;                  ///< what follows the work in hand
    double slowdown = 1;
  };

  std::deque<std::int64_t>& queue_of(int lane);
  Started& at(std::int64_t ticket) { return started_[static_cast<std::size_t>(ticket)]; }
  void dispatch();
  bool step(int lane);
  bool is_ready(std::int64_t ticket) const;
  bool begin(int lane);
  void finish(int lane);
  std::array<Work, 2> work_of(schedule::Stage stage, std::int64_t batch) const;
  double slowdown_of(schedule::Stage stage) const;
  void settle();
  void advance();

  const MachineModel& model_;
  const bool contended_;
  Hardware hardware_;
  std::vector<Lane> lanes_;
  std::array<std::deque<std::int64_t>, 3> queues_;  ///< of the device, of the copy lane, of the workers
  int waiting_workers_ = 0;
  std::vector<Started> started_;
  std::vector<std::pair<int, Work>> beginning_;  ///< begun at this date, not yet given to the hardware
  StageCounts running_{};
  std::array<double, schedule::num_stages> busy_s_{};
  double link_s_ = 0;
};

}  // namespace gnomon::sim
