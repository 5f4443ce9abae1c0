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
  std::optional<double> epoch_s;             ///< by `speed`; absent if its throughput is not to be trusted
  std::optional<double> memory_bytes;        ///< by `speed`; absent if its memory is not to be trusted
  std::optional<LearnedForecast> speed;      ///< absent if the surrogate learned no throughput
  std::optional<AccuracyForecast> accuracy;  ///< absent if it learned no accuracy

  /// Inputs beyond what was learned.
  std::vector<std::string> outside() const;
};

/// Forecasts of plans on a profile, whose stage times a surrogate does not use. Throws InputError.
std::vector<PlanForecast> forecasts_of(const Learned& learned, const profiles::Profile& profile,
                                       const std::vector<plan::Plan>& plans);

/// What of a surrogate is not used or uncertain, and why: "throughput is not predicted: …".
std::vector<std::string> doubts_of(const Learned& learned);

/// The document "gnomon.forecasts/1". `doubts` are those of the surrogate.
base::Json to_document(const std::vector<PlanForecast>& forecasts,
                       const std::vector<std::string>& doubts = {});

}  // namespace gnomon::tuner
