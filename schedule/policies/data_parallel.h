#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plan/plan.h"
#include "schedule/epoch_log.h"
#include "schedule/machine.h"

namespace gnomon::schedule {

/// Presents D devices as one, so that every policy trains data-parallel without knowing it. The policy's
/// batches are *steps*: each stage of step k runs for the batches k·D … k·D + D-1, one on each device. The
/// training of a step ends with the all-reduce of the gradients, and the next step's training begins after
/// it. Groups of batches are read and prepared once and copied to every device.
class DataParallelMachine final : public Machine {
 public:
  DataParallelMachine(Machine& machine, int devices, std::int64_t batches);

  /// `device` is ignored: a policy sees one device, number 0.
  Ticket start_on(int device, Stage stage, std::int64_t step, std::span<const Ticket> after) override;
  bool done(Ticket ticket) override;
  void wait_any(std::span<const Ticket> tickets) override;
  double now_s() override { return machine_.now_s(); }
  /// The span from the first device's begin to the last device's end.
  StageSpan span(Ticket ticket) override;
  /// The training of a step includes the all-reduce.
  double expected_s(Stage stage) const override {
    return machine_.expected_s(stage) + (stage == Stage::train ? machine_.expected_s(Stage::all_reduce) : 0);
  }

  /// The number of batches (not steps) that CPU workers prepared.
  std::int64_t cpu_batches() const { return cpu_batches_; }

 private:
  /// The stages that one stage of a step consists of.
  struct Parts {
    std::vector<Ticket> by_device;  ///< one for each device that has a batch in the step
    Ticket all_reduce;              ///< after all of them; number -1 for stages other than train
    bool on_host = false;           ///< run by the host: a dependent stage on any device waits for all parts
  };

  int devices_of(Stage stage, std::int64_t step) const;
  std::vector<Ticket> dependencies(int device, std::span<const Ticket> after) const;
  template <class Visit>
  void for_each_unfinished(const Parts& parts, Visit visit);

  Machine& machine_;
  std::int64_t devices_;
  std::int64_t batches_;
  std::int64_t cpu_batches_ = 0;
  Ticket last_all_reduce_;
  std::vector<Parts> started_;
};

using RunPolicy = std::function<EpochLog(const plan::Plan& plan, std::int64_t batches, Machine& machine)>;

/// Runs a policy over steps of plan.devices batches; each device gets an equal share of the workers.
EpochLog run_data_parallel(const plan::Plan& plan, std::int64_t batches, Machine& machine,
                           const RunPolicy& policy);

}  // namespace gnomon::schedule
