#pragma once

#include <string>

#include "plan/plan.h"
#include "profiles/profile.h"
#include "sim/prediction.h"
#include "tuner/search/candidate.h"

namespace gnomon::tuner {

/// The result of MorphGL's dispatcher.
struct DispatcherResult {
  Candidate best;
  double first_ratio = 0;  ///< the x that minimises C'(x), see first_ratio()
  int rounds = 0;          ///< simulations in the feedback loop
  std::string stopped_by;  ///< "balanced", "repeated", "device only", "pipeline"
};

/// Device-prepared batches per CPU-prepared batch, x >= 0, that minimise MorphGL's cost of an epoch (PVLDB
/// 19(6), 2026, section 4): a phase in which the device prepares x batches and CPU and link are busy too,
/// then a pipelined one as long as its slowest resource:
///
///     C'(x) = n / (1 + x) * (x U + max(T, (1 + x) M, C - x U))
///
/// with U = device_batch_s, T = transfer_s, M = train_s and C = cpu_batch_s of all workers together (one
/// worker's time over their effective number). Infinite if preparing on the CPU never pays off; it always
/// pays a little if training takes time.
double first_ratio(double cpu_batch_s, double device_batch_s, double transfer_s, double train_s);

/// The step of MorphGL's feedback for the CPU's buffer: -1 if the device waited for the CPU in each overlap
/// for longer than one preparation on the device, +1 if the CPU waited for the device, 0 otherwise.
int dispatcher_step(const sim::Prediction& prediction, int cpu_buffer, double device_batch_s);

/// MorphGL's dispatcher. It starts at the first ratio; then the CPU buffer shrinks while the simulated device
/// waits for the CPU, and grows while the CPU waits for the device. The device's buffer is that of `morphgl`.
/// It ends with one of:
/// - "balanced": the wait of one overlap is shorter than one preparation on the device;
/// - "repeated": a plan recurs, or the CPU buffer would exceed the epoch; the result is the fastest plan
///   seen;
/// - "device only": the device still waits for a buffer of one batch;
/// - "pipeline": training alone takes longer than preparing on the CPU and copying, or preparing on the
///   device never pays off.
///
/// Results of "device only" and "pipeline" have another schedule.
DispatcherResult dispatch(const profiles::Profile& profile, const plan::Plan& morphgl,
                          const Evaluate& evaluate);

}  // namespace gnomon::tuner
