#pragma once

#include <cstddef>
#include <vector>

namespace gnomon::tuner {

/// What is wanted of a plan, each number the less the better.
using Goals = std::vector<double>;

/// The positions of those that no other one beats: none is at most as large in every goal and smaller in one.
/// Of equal ones the first; by rising first goal.
std::vector<std::size_t> pareto_front(const std::vector<Goals>& all);

/// The volume between the points and a reference that is worse than all of them: what lies under at least
/// one. Points that are not under the reference add nothing. For two goals and more, by slices along the last
/// one; meant for fronts of up to some hundred points in up to three goals.
double hypervolume(std::vector<Goals> points, const Goals& reference);

}  // namespace gnomon::tuner
