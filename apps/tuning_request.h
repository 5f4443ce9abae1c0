#pragma once

#include <optional>
#include <vector>

#include "apps/tuning.h"
#include "base/document.h"
#include "profiles/profile.h"
#include "tuner/space/space.h"
#include "tuner/surrogate/learned_accuracy.h"

namespace gnomon::apps {

/// What predicts the accuracy of approximate plans, where there is one.
using Accuracy = std::optional<tuner::AccuracyPredictor>;

/// The predictor in the file that options name, for the profile's graph and job. Throws InputError.
Accuracy accuracy_of(const profiles::Profile& profile, const TuningOptions& options);

/// The plans that are searched for the profile.
tuner::SpaceRequest request_of(const profiles::Profile& profile, const TuningOptions& options,
                               const Accuracy& accuracy);

/// Whether a plan keeps to all constraints of the search.
bool is_allowed(const tuner::SpaceRequest& request, const plan::Plan& plan);

/// The presets as published that the machine can run and that may be taken, in the order of their names.
std::vector<plan::Plan> preset_plans(const profiles::Profile& profile, const tuner::SpaceRequest& request);

/// All that a search depends on.
base::Json search_document(const profiles::Profile& profile, const TuningOptions& options);

}  // namespace gnomon::apps
