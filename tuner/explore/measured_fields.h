#pragma once

#include <string>

namespace gnomon::tuner {

/// Throws InputError for a field of the profile that must not be set to another value: the times of stages
/// were measured with the present one and do not follow from it, as the size of mini-batches.
void check_may_be_set(const std::string& path);

/// Whether the field is one of the job's model, from which times of training follow (profiles::with_model).
bool sets_model(const std::string& path);

}  // namespace gnomon::tuner
