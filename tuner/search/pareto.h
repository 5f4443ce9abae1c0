#pragma once

#include <cstddef>
#include <vector>

namespace gnomon::tuner {

/// A plan's numbers to minimise.
using Goals = std::vector<double>;

/// The positions of the Pareto front, by ascending first goal: goals for which no others are at most as large
/// in every number and smaller in one. Of equal goals the first is kept.
std::vector<std::size_t> pareto_front(const std::vector<Goals>& all);

/// The hypervolume: the volume that is dominated by at least one point and bounded by the reference. Points
/// beyond the reference add nothing. Computed by slices along the last goal, for at least two goals; meant
/// for fronts of up to a few hundred points in up to three goals.
double hypervolume(std::vector<Goals> points, const Goals& reference);

}  // namespace gnomon::tuner
