#include "tuner/certainty.h"

#include <cmath>

#include "sim/uncertainty.h"
#include "tuner/search/preference.h"

namespace gnomon::tuner {

std::vector<Certainty> certainties(const profiles::Profile& profile,
                                   const std::vector<Candidate>& candidates) {
  std::vector<Certainty> all;
  std::optional<sim::EpochErrors> best;
  const double assumed_s =
      profile.prediction_error || candidates.empty()
          ? 0
          : same_epoch(profiles::cores_of(profile)) * candidates.front().prediction.epoch_s;
  for (const auto& candidate : candidates) {
    Certainty& certainty = all.emplace_back();
    const auto errors = sim::epoch_errors(profile, candidate.plan);
    if (all.size() == 1) {
      best = errors;
    }
    if (errors) {
      certainty.interval_s = sim::interval_s(*errors);
    }
    if (errors && best) {
      certainty.over_best_s = candidate.prediction.epoch_s - candidates.front().prediction.epoch_s;
      certainty.over_best_interval_s =
          all.size() == 1 ? 0 : std::hypot(sim::difference_interval_s(*errors, *best), assumed_s);
    }
  }
  return all;
}

}  // namespace gnomon::tuner
