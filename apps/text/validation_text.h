#pragma once

#include <string>
#include <vector>

#include "tuner/run/validation.h"

namespace gnomon::apps {

/// Predicted beside measured epochs as a table.
std::string validation_text(const std::vector<tuner::Validated>& results);

}  // namespace gnomon::apps
