#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/prediction.h"

namespace gnomon::tuner {

/// A plan and what the simulator says of it.
struct Candidate {
  plan::Plan plan;
  sim::Prediction prediction;
};

/// Asks the simulator (or anything else) about a plan.
using Evaluate = std::function<sim::Prediction(const plan::Plan&)>;

/// How MorphGL's dispatcher ended.
struct DispatcherResult {
  Candidate best;
  double first_ratio = 0;  ///< x that minimises C'(x) (systems.md §4)
  int rounds = 0;          ///< simulations in the feedback loop
  std::string stopped_by;  ///< "balanced", "repeated", "device only", "pipeline"
};

/// Device-prepared batches per CPU-prepared batch, x >= 0, that minimise MorphGL's cost of an epoch (PVLDB
/// 19(6), 2026, section 4): a phase in which the device prepares x batches and CPU and link are busy too,
/// then a pipelined one as long as its slowest resource:
///
///     C'(x) = n / (1 + x) * (x U + max(T, (1 + x) M, C - x U))
///
/// with U = device_batch_s, T = transfer_s, M = train_s and C = cpu_batch_s, that of all workers together
/// (one worker's time over their effective number). Infinite when no CPU batching pays, which it
/// always does a little where training takes time.
double first_ratio(double cpu_batch_s, double device_batch_s, double transfer_s, double train_s);

/// What MorphGL's feedback does to the CPU's buffer after such a prediction: -1 where the device waited for
/// the CPU in each overlap for longer than a device batching takes, +1 where the CPU waited for the device, 0
/// otherwise.
int dispatcher_step(const sim::Prediction& prediction, int cpu_buffer, double device_batch_s);

/// MorphGL's dispatcher: from the first ratio on, the CPU's buffer shrinks while the simulator says that the
/// device waits for the CPU, and grows while the CPU waits for the device, the device's buffer staying what
/// `morphgl` says. It ends
/// - "balanced": the wait of one overlap is under one device batching;
/// - "repeated": a plan comes again, or the CPU buffer would outgrow the epoch; the fastest one seen is
/// taken;
/// - "device only": the device still waits for a buffer of one batch;
/// - "pipeline": training alone takes longer than CPU batching and copying do, or no device batching pays.
/// The last two give plans of another schedule.
DispatcherResult dispatch(const profiles::Profile& profile, const plan::Plan& morphgl,
                          const Evaluate& evaluate);

}  // namespace gnomon::tuner
