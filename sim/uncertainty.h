#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// How uncertain a plan's predicted epoch is.
struct EpochErrors {
  double epoch_s = 0;
  /// The change of the epoch if one source of errors is slower by the half width of its 95 % interval: 0 for
  /// what the plan does not use or hides behind something else. Sources are the times of the four stages, the
  /// five lists of speed-ups by threads and workers, the learned corrections of the four stages, and the
  /// profile's beliefs of other numbers. Two plans on one profile are predicted from the same numbers, so
  /// that an error in one of them changes both epochs.
  std::vector<double> by_source_s{};
  /// Half width by the error of predictions that real runs showed (Profile::prediction_error): what remains
  /// of each plan after corrections that plans have in common.
  double of_model_s = 0;
};

/// Computes the changes by predict_quickly. None if nothing is known of the profile's precision, as of those
/// of papers, if the plan does not fit in memory, or if its epoch depends on a stage of unknown precision,
/// such as one that was moved to another machine by data sheets. Throws InputError.
std::optional<EpochErrors> epoch_errors(const profiles::Profile& profile, const plan::Plan& plan);

/// Half width of the 95 % confidence interval of the epoch: the root of the sum of squares of all errors, as
/// they are independent of each other.
double interval_s(const EpochErrors& errors);

/// Half width of the 95 % confidence interval of the difference between the epochs of two plans on one
/// profile. Precondition: both have the same sources. Errors of a source change both epochs and are
/// subtracted before they are squared; those of the model are each plan's own.
double difference_interval_s(const EpochErrors& one, const EpochErrors& other);

/// interval_s of epoch_errors.
std::optional<double> epoch_interval_s(const profiles::Profile& profile, const plan::Plan& plan);

/// Throws InputError, with the stage and how to measure it again, if a stage time is too uncertain to predict
/// from: the half width of its 95 % confidence interval is at least twice the time. `where` names the
/// profile.
void check_precision(const profiles::Profile& profile, const std::string& where);

}  // namespace gnomon::sim
