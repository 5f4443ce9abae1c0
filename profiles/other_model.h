#pragma once

#include <string>

#include "plan/job.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// Standard deviation of the error of a training step's time for another model, over that time: fitted to the
/// jobs of bench/results/other_models.json.
inline constexpr double other_model_deviation = 0.25;

/// Whether training steps with another value of this field of a job ("hidden") can be predicted: fields of
/// the model, which change neither mini-batches nor what prepares them.
bool is_of_model(const std::string& field);

/// The profile of `job`, which differs from the profile's in fields of the model only, on the same graph and
/// machine. The time of a training step is the measured one times counts over speeds of the new model, over
/// those of the measured one (training_work()):
///
///     t' = t (Σ c' / s) / (Σ c / s).
///
/// Other times of training scale with it, if they are not relative to it already. The part of a step that
/// more threads do not shorten grows less than the step (fitted). Memory scales with the elements of
/// activations and of weights. The time of an evaluation becomes unknown. Throws InputError that names
/// `where` if the profile has no speeds of its machine, or none of a kind that the models need.
Profile with_model(Profile profile, const plan::Job& job, const std::string& where);

}  // namespace gnomon::profiles
