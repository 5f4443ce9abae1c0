#pragma once

#include <string>
#include <vector>

#include "tuner/explore/exploration.h"

namespace gnomon::apps {

/// The rows as an aligned table in that order (tuner::sorted), followed by a line for each assumption beyond
/// the measurements, and one for each reason why a row can only be simulated or is not possible.
std::string exploration_text(const std::vector<tuner::ExplorationRow>& rows, tuner::RowOrder order);

/// The rows' explanations in that order, each below the row's name; empty if none was requested.
std::string explanations_text(const std::vector<tuner::ExplorationRow>& rows, tuner::RowOrder order);

}  // namespace gnomon::apps
