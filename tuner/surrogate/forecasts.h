#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "plan/plan.h"
#include "profiles/profile.h"
#include "tuner/surrogate/learned.h"

namespace gnomon::tuner {

/// A surrogate's prediction of a plan on a profile, and the simulator's computed one.
struct PlanForecast {
  plan::Plan plan;                           ///< resolved
  double simulated_s = 0;                    ///< sim::predict_quickly
  std::optional<double> epoch_s;             ///< by `speed`; absent if its throughput model is not trusted
  std::optional<double> memory_bytes;        ///< by `speed`; absent if its memory model is not trusted
  std::optional<LearnedForecast> speed;      ///< absent if the surrogate learned no throughput
  std::optional<AccuracyForecast> accuracy;  ///< absent if it learned no accuracy

  /// Inputs outside the range of the training data.
  std::vector<std::string> outside() const;
};

/// Forecasts of plans on a profile, whose stage times a surrogate does not use. Throws InputError.
std::vector<PlanForecast> forecasts_of(const Learned& learned, const profiles::Profile& profile,
                                       const std::vector<plan::Plan>& plans);

/// The parts of a surrogate that are unused or uncertain, and why: "throughput is not predicted: …".
std::vector<std::string> doubts_of(const Learned& learned);

/// The document "gnomon.forecasts/1". `doubts` are those of the surrogate.
base::Json to_document(const std::vector<PlanForecast>& forecasts,
                       const std::vector<std::string>& doubts = {});

}  // namespace gnomon::tuner
