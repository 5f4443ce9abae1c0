#pragma once

#include <memory>

#include "tuner/search/strategy.h"

namespace gnomon::tuner {

/// The strategy `ppo`: a policy chooses a plan field by field, each from the values that may follow the
/// fields before it. It is trained by proximal policy optimisation on the logarithms of the resulting epochs
/// (search over the plan vector as in A3GNN, with the simulator as environment). At first it is a random
/// search with all plans equally likely. A plan that is drawn again counts for learning but is not asked
/// again; an infeasible plan counts as worse than the worst. When the policy draws no new plans, more and
/// more plans are drawn uniformly; when these are not new either, the search ends.
std::unique_ptr<Strategy> make_policy_search(const Problem& problem);

}  // namespace gnomon::tuner
