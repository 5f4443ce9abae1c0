#pragma once

#include <optional>
#include <vector>

#include "base/document.h"
#include "profiles/profile.h"
#include "tuner/space/space.h"
#include "tuner/surrogate/learned_accuracy.h"
#include "tuner/tuning.h"

namespace gnomon::tuner {

/// Predicts the accuracy of approximate plans; absent without a surrogate file.
using Accuracy = std::optional<AccuracyPredictor>;

/// The predictor in the surrogate file of the options, for the profile's graph and job. Throws InputError if
/// the file does not fit, or if options contradict each other.
Accuracy accuracy_of(const profiles::Profile& profile, const TuningOptions& options);

/// The minimum exactness of the chosen plan.
plan::Exactness required_exactness(const TuningOptions& options);

/// The options of a search that also includes plans with weaker guarantees than required.
TuningOptions with_less_exact(TuningOptions options);

/// The budget of a search with these options: the requested one, all plans with strategy `exhaustive`, or
/// else 100 evaluations.
Budget budget_of(const TuningOptions& options);

/// The space of plans that is searched for the profile.
SpaceRequest request_of(const profiles::Profile& profile, const TuningOptions& options,
                        const Accuracy& accuracy);

/// Whether a plan satisfies all constraints of the search.
bool is_allowed(const SpaceRequest& request, const plan::Plan& plan);

/// The published presets that the machine can run and the request allows, in the order of their names.
std::vector<plan::Plan> preset_plans(const profiles::Profile& profile, const SpaceRequest& request);

/// All inputs of a search, for its journal.
base::Json search_document(const profiles::Profile& profile, const TuningOptions& options);

}  // namespace gnomon::tuner
