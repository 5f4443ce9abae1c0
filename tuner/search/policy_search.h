#pragma once

#include <memory>

#include "tuner/search/strategy.h"

namespace gnomon::tuner {

/// The strategy `ppo`: a policy that chooses a plan field by field, each from what may follow the ones before
/// it, and that is trained by proximal policy optimisation on the logarithms of the epochs it led to (search
/// over the plan vector as in A3GNN, with the simulator as environment). It begins as random search, every
/// plan being as likely as any other. A plan that is drawn again counts for learning but is not asked again;
/// one that is not feasible counts as worse than the worst. Where the policy draws nothing new any more, ever
/// more plans are drawn as at the beginning; when that finds nothing either, the search ends.
std::unique_ptr<Strategy> make_policy_search(const Problem& problem);

}  // namespace gnomon::tuner
