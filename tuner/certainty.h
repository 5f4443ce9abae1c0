#pragma once

#include <optional>
#include <vector>

#include "profiles/profile.h"
#include "tuner/search/candidate.h"

namespace gnomon::tuner {

/// How certain the prediction of a candidate is, by itself and beside the best one. All are half widths of 95
/// % confidence intervals in seconds, absent where the profile's precision is unknown (sim::epoch_errors).
struct Certainty {
  std::optional<double> interval_s{};   ///< of its epoch
  std::optional<double> over_best_s{};  ///< its epoch less the best one's: a difference, not a half width
  /// Of that difference (sim::difference_interval_s). Errors of simulation that no real runs have measured
  /// are assumed to be of the size below which predicted epochs count as equal (same_epoch).
  std::optional<double> over_best_interval_s{};

  /// Whether the difference is within its interval.
  bool equals_best() const {
    return over_best_s && (*over_best_s < 0 ? -*over_best_s : *over_best_s) <= *over_best_interval_s;
  }
};

/// Of each candidate beside `candidates.front()`. Throws InputError.
std::vector<Certainty> certainties(const profiles::Profile& profile,
                                   const std::vector<Candidate>& candidates);

}  // namespace gnomon::tuner
