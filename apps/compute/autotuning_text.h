#pragma once

#include <string>

#include "tuner/run/autotune.h"

namespace gnomon::apps {

/// Measured beside predicted epochs of the verified plans, and how many real runs it took.
std::string verification_text(const tuner::VerificationResult& result);

/// The training's accuracy, the prediction's error, the cost of choosing the plan, and the paths of the
/// documents.
std::string autotuning_text(const tuner::Autotuning& result);

}  // namespace gnomon::apps
