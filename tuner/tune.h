#pragma once

#include <atomic>

#include "base/progress.h"
#include "profiles/profile.h"
#include "tuner/evaluate.h"
#include "tuner/tuning.h"

namespace gnomon::tuner {

/// Searches the best plan for a profile, compares it with all presets, and finds the front and what would
/// help most. `evaluate` predicts the plans; if it is empty, the simulator does, in `options.processes`
/// processes. `progress` is told of evaluations; when `stop` is set, Interrupted is thrown before the next
/// one.
///
/// Throws InputError if options contradict each other or no plan keeps to the limits, Failure if no plan that
/// was tried fits the machine or the journal cannot be written.
Tuning tune(const profiles::Profile& profile, const TuningOptions& options, const EvaluateOn& evaluate = {},
            const base::Progress& progress = {}, const std::atomic<bool>* stop = nullptr);

}  // namespace gnomon::tuner
