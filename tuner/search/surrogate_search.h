#pragma once

#include <memory>

#include "tuner/search/strategy.h"

namespace gnomon::tuner {

/// The strategies `automatic`, `gaussian_process` and `trees`: points with the highest expected improvement
/// of the logarithm of the epoch's time.
///
/// `automatic` learns how far epochs are over their lower bounds instead of the epochs themselves, so that
/// all that the bound knows (workers, threads, routes, what is shared) need not be learnt; begins with a
/// guess for each schedule from the stages' times; never asks for a plan whose bound is over the best epoch;
/// follows the dispatcher's feedback from each new best plan of two buffers; and ends, after a look at the
/// best plan's neighbours, when nothing promises a thousandth any more.
std::unique_ptr<Strategy> make_surrogate_search(StrategyKind kind, const Problem& problem);

}  // namespace gnomon::tuner
