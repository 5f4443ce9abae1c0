#pragma once

#include <atomic>

#include "base/progress.h"
#include "tuner/explore/exploration.h"
#include "tuner/tuning.h"

namespace gnomon::tuner {

/// Tunes a plan for each profile of the request, with the sweeps' fields as they are, and adds it to the
/// profile's own plans. If no plan fits, the preset that uses the least memory is added, whose row says how
/// much memory is missing. Throws InputError, and what `progress` throws.
void add_tuned_plans(ExplorationRequest& request, const TuningOptions& options,
                     const base::Progress& progress, const std::atomic<bool>* stop);

}  // namespace gnomon::tuner
