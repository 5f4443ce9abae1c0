#pragma once

#include <string>
#include <vector>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// A slowdown that was measured as a gain: a neighbour would make a stage faster than it is alone, or a team
/// of threads faster than its fair share of an oversubscribed CPU allows. It is more likely that the machine
/// was busy while the stage ran alone.
struct QuestionableFactor {
  std::string field;  ///< of Contention
  double value = 1;
};

/// The slowdowns below 0.99, apart from beside_crowded_team: single threads do gain from a team that waits.
/// The simulator counts a gain beside a neighbour as no slowdown, and no stage as faster than alone.
std::vector<QuestionableFactor> questionable_factors(const Contention& contention);

/// "questionable: train beside cpu batch takes 0.53x …", a line with what to do; empty without factors.
std::string text_of(const std::vector<QuestionableFactor>& factors);

}  // namespace gnomon::profiles
