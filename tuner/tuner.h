#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/progress.h"
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

/// x ≥ 0, device-prepared batches per CPU-prepared batch, that minimises C'(x) of systems.md §4. Infinite
/// when no CPU batching pays.
double first_ratio(double cpu_batch_s, double device_batch_link_s, double transfer_s, double train_s);

/// MorphGL's dispatcher (systems.md §4): first ratio, feedback loop over the simulator, fall-backs.
DispatcherResult dispatch(const profiles::Profile& profile, const plan::Plan& morphgl,
                          const Evaluate& evaluate);

struct TuneResult {
  Candidate best;
  std::vector<Candidate> candidates;  ///< the best of each preset, the fastest first
  DispatcherResult dispatcher;
  int evaluations = 0;
};

/// For every preset searches workers, device threads, buffers and look-ahead, exhaustively where that is
/// small, and the dispatcher's ratio for dual-buffer plans.
TuneResult tune(const profiles::Profile& profile, const Evaluate& evaluate, const base::Progress& progress);

}  // namespace gnomon::tuner
