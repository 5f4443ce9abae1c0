#pragma once

#include <string>

#include "tuner/run/autotune.h"

namespace gnomon::apps {

/// Measured beside predicted epochs of the verified plans, and how many real runs it took.
std::string verification_text(const tuner::VerificationResult& result);

/// What the training reached, how good the prediction was, what choosing the plan cost, and where the
/// documents are.
std::string autotuning_text(const tuner::Autotuning& result);

}  // namespace gnomon::apps
