#pragma once

#include <cstdint>
#include <functional>

#include "plan/plan.h"
#include "schedule/machine.h"
#include "sim/costs/model.h"
#include "sim/prediction.h"

namespace gnomon::sim {

/// Simulates epochs with SimGrid, whose solver divides cores, links and the disk between their users. It is
/// the reference for the epochs computed by arithmetic (run_quickly), and predicts all published numbers.
///
/// In builds without SimGrid (sim/no_simgrid) that arithmetic runs them, batch by batch.
///
/// A process has one SimGrid engine, which all runs reuse. Runs are deterministic and independent of earlier
/// runs, bit for bit for the first 4,096 runs of a process. Not thread-safe.
class Simulator {
 public:
  /// Creates the process's engine if there is none yet.
  Simulator();

  /// Runs the plan's schedule (schedule::run_epoch, the code that trains) on the simulated machine. Throws
  /// what the schedule throws.
  Prediction run(const plan::Plan& plan, const MachineModel& model, std::int64_t batches, bool with_timeline);

  /// Calls `drive` with a new simulated machine for about `batches` batches. Rethrows its exceptions.
  void with_machine(const MachineModel& model, std::int64_t batches,
                    const std::function<void(schedule::Machine&)>& drive);
};

}  // namespace gnomon::sim
