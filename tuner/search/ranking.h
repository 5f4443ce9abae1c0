#pragma once

#include <cstddef>
#include <vector>

#include "base/philox.h"
#include "tuner/search/strategy.h"

namespace gnomon::tuner {

/// Feasible points found by climbing on Bounds::estimate from the first guesses and from random points, with
/// about so many estimates; the fastest first. Of points with the same estimate (to a part in a thousand)
/// only the one that takes the least resources is kept.
std::vector<Point> ranked_points(const Problem& problem, base::RandomStream& random, std::int64_t estimates);

}  // namespace gnomon::tuner
