#pragma once

#include <memory>

#include "tuner/search/strategy.h"

namespace gnomon::tuner {

/// The strategies `automatic`, `gaussian_process` and `trees`: points with the highest expected improvement
/// of the logarithm of the epoch's time.
///
/// `automatic` learns the ratio of epochs to their estimates instead of the epochs themselves, so that the
/// model need not learn what the estimate already covers (workers, threads, routes, shared resources). It
/// starts with the plans that rank best by estimate, never asks for a plan whose lower bound is over the best
/// epoch, and follows the dispatcher's feedback from each new best plan with two buffers. After trying the
/// best plan's neighbours it ends when no plan promises to gain a thousandth.
std::unique_ptr<Strategy> make_model_search(StrategyKind kind, const Problem& problem);

}  // namespace gnomon::tuner
