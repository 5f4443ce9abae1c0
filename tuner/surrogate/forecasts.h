#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "tuner/surrogate/learned.h"

namespace gnomon::tuner {

/// A plan on a profile as a surrogate predicts it, beside the simulator's arithmetic.
struct PlanForecast {
  plan::Plan plan;                           ///< resolved
  double simulated_s = 0;                    ///< sim::predict_quickly
  double epoch_s = 0;                        ///< by `speed`; 0 without
  std::optional<LearnedForecast> speed;      ///< absent if the surrogate learned no throughput
  std::optional<AccuracyForecast> accuracy;  ///< absent if it learned no accuracy

  /// Inputs beyond what was learned.
  std::vector<std::string> outside() const;
};

/// Forecasts of plans on a profile, whose stage times a surrogate does not use. Throws InputError.
std::vector<PlanForecast> forecasts_of(const Learned& learned, const profiles::Profile& profile,
                                       const std::vector<plan::Plan>& plans);

/// The document "gnomon.forecasts/1".
base::Json to_document(const std::vector<PlanForecast>& forecasts);

}  // namespace gnomon::tuner
