#pragma once

#include <string>
#include <vector>

#include "tuner/explore/exploration.h"

namespace gnomon::apps {

/// The rows as an aligned table, then one line for each reason why a row is not possible.
std::string exploration_text(const std::vector<tuner::ExplorationRow>& rows);

}  // namespace gnomon::apps
