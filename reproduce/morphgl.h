#pragma once

#include <optional>

#include "base/progress.h"
#include "profiles/profile.h"
#include "reproduce/paper.h"
#include "reproduce/report.h"
#include "sim/simulator.h"
#include "tuner/search/dispatcher.h"

/// MorphGL's tables (PVLDB 19(6), 2026) from its baselines' columns (reproduce/morphgl_stages.h).
namespace gnomon::reproduce {

/// Predicts MorphGL's epoch with the buffers at which its dispatcher ends.
tuner::DispatcherResult predict_morphgl(sim::Simulator& simulator, const profiles::Profile& profile);

/// Reproduces Tables 4, 5 and 6 of machines A and B or, with `baselines`, MorphGL's epochs and buffers in all
/// cells of which they have both baselines. Throws InputError if there is no such cell.
Report reproduce_morphgl(sim::Simulator& simulator, const std::optional<Paper>& baselines,
                         const base::Progress& progress);

}  // namespace gnomon::reproduce
