#pragma once

#include <cstddef>
#include <vector>

#include "base/philox.h"
#include "tuner/search/strategy.h"

namespace gnomon::tuner {

/// Feasible points by ascending PointFacts::estimate_s, found by local search from the first guesses and from
/// random points with about `estimates` estimates. Of points with equal estimates (within a thousandth) only
/// the one with the fewest resources is kept.
std::vector<Point> ranked_points(const Problem& problem, base::RandomStream& random, std::int64_t estimates);

}  // namespace gnomon::tuner
