#pragma once

#include <string>
#include <vector>

#include "profiles/profile.h"

namespace gnomon::profiles {

/// A slowdown measured as a speed-up: a stage would be faster beside a neighbour than alone, or a team of
/// threads faster than its fair share of an oversubscribed CPU allows. Most likely the machine was busy while
/// the stage ran alone.
struct QuestionableFactor {
  std::string field;  ///< of Contention
  double value = 1;
};

/// Returns the slowdowns below 0.99, except beside_crowded_team: single threads do gain from a waiting team.
/// The simulator never predicts a stage to be faster than alone.
std::vector<QuestionableFactor> questionable_factors(const Contention& contention);

/// "questionable: train beside cpu batch takes 0.53x …", one line with advice; empty without factors.
std::string text_of(const std::vector<QuestionableFactor>& factors);

}  // namespace gnomon::profiles
