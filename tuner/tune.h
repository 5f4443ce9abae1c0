#pragma once

#include <atomic>

#include "base/progress.h"
#include "profiles/profile.h"
#include "tuner/evaluate.h"
#include "tuner/tuning.h"

namespace gnomon::tuner {

/// Searches for the best plan for a profile, compares it with all presets, and computes the Pareto front and
/// sensitivities. `evaluate` predicts the plans; if it is empty, the simulator does, in `options.processes`
/// processes. `progress` reports evaluations; once `stop` is set, Interrupted is thrown before the next one.
///
/// Throws InputError if options contradict each other or no plan respects the limits, and Failure if no
/// evaluated plan fits the machine or the journal cannot be written.
Tuning tune(const profiles::Profile& profile, const TuningOptions& options, const EvaluateOn& evaluate = {},
            const base::Progress& progress = {}, const std::atomic<bool>* stop = nullptr);

}  // namespace gnomon::tuner
