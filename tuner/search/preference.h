#pragma once

#include <optional>
#include <vector>

#include "plan/plan.h"
#include "tuner/search/candidate.h"

namespace gnomon::tuner {

/// The relative standard error of predicted epochs that is assumed of a profile without a measured one
/// (profiles::Profile::prediction_error, by `gnomon validate --correct`). It is above the root mean square
/// errors of the plans in bench/results/validate.json and validate_threads.json.
inline constexpr double prediction_error = 0.06;

/// The relative difference below which predicted epochs count as equal: half of the measured prediction
/// error. Without a measured one, half of the assumed error if all stages share the cores and their caches,
/// otherwise the precision of a profile.
constexpr double same_epoch(const plan::Cores& cores, std::optional<double> measured_error = {}) {
  if (measured_error) {
    return *measured_error / 2;
  }
  return plan::runs_on_cores(cores.device) ? prediction_error / 2 : 0.01;
}

/// The plan with buffers of a few mini-batches, as published systems have them, and a look-ahead that adapts
/// to the epoch's stage times. On a real machine times vary more than measured, and caches do not hold many
/// mini-batches. Neither field changes what is trained.
plan::Plan with_usual_buffers(plan::Plan plan);

/// The position of the preferred candidate: among those as fast as the fastest (same_epoch), the one with the
/// fewest threads without a core of their own, as oversubscribed plans are the hardest to predict; then the
/// one with the smallest buffers beyond the usual; then the fastest. Precondition: `candidates` is not empty.
std::size_t preferred(const std::vector<Candidate>& candidates, const plan::Cores& cores,
                      std::optional<double> measured_error = {});

}  // namespace gnomon::tuner
