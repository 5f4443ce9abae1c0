#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plan/plan.h"
#include "schedule/machine.h"
#include "schedule/policies.h"

namespace gnomon::schedule {

/// Several devices as one: a policy speaks of *steps*, and each stage of step k is done for the batches
/// k*D … k*D + D-1, one on each of the D devices; a step's training ends with the average of the gradients,
/// and the next one's begins after it. So every policy trains data-parallel without knowing of it. What is
/// for a group of batches is read and prepared once and copied to each device.
class DataParallelMachine final : public Machine {
 public:
  DataParallelMachine(Machine& machine, int devices, std::int64_t batches);

  /// `device` is 0: that of the policy.
  Ticket start_on(int device, Stage stage, std::int64_t step, std::span<const Ticket> after) override;
  bool done(Ticket ticket) override;
  void wait_any(std::span<const Ticket> tickets) override;
  double now_s() override { return machine_.now_s(); }
  /// From the first device's begin to the last one's end.
  StageSpan span(Ticket ticket) override;
  /// A step's training ends with the average of its gradients.
  double usual_s(Stage stage) const override {
    return machine_.usual_s(stage) + (stage == Stage::train ? machine_.usual_s(Stage::all_reduce) : 0);
  }

  /// Batches, not steps, that came by the CPU route.
  std::int64_t cpu_batches() const { return cpu_batches_; }

 private:
  /// What a step's stage is made of: a ticket of each device that has a batch, and what follows them all.
  struct Parts {
    std::vector<Ticket> by_device;
    Ticket last;           ///< the average of the gradients; none for other stages
    bool of_host = false;  ///< not of the devices: whoever comes after waits for all parts
  };

  int devices_of(Stage stage, std::int64_t step) const;
  std::vector<Ticket> before(int device, std::span<const Ticket> after) const;
  template <class Visit>
  void for_each_open(const Parts& parts, Visit visit);

  Machine& machine_;
  std::int64_t devices_;
  std::int64_t batches_;
  std::int64_t cpu_batches_ = 0;
  Ticket last_average_;
  std::vector<Parts> started_;
};

using RunPolicy = std::function<EpochLog(const plan::Plan& plan, std::int64_t batches, Machine& machine)>;

/// Runs a policy over steps of plan.devices batches, with its share of the workers for each device.
EpochLog run_data_parallel(const plan::Plan& plan, std::int64_t batches, Machine& machine,
                           const RunPolicy& policy);

}  // namespace gnomon::schedule
