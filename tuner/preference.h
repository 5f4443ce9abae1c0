#pragma once

#include <vector>

#include "plan/plan.h"
#include "tuner/tuner.h"

namespace gnomon::tuner {

/// Predicted epochs that differ by less, relative, are the same: a profile is hardly surer.
inline constexpr double same_epoch = 0.01;

/// The plan with buffers of at least a few mini-batches, as published systems have, and the look-ahead left
/// to the epoch's own stage times: for a real machine, whose times vary by more than they were measured to.
/// Neither changes what is trained.
plan::Plan with_room(plan::Plan plan);

/// Which of these to take: of those that are as fast as the fastest the one with the fewest threads that have
/// no core of their own, for these are the hardest to predict; then the fastest. Not of none.
std::size_t preferred(const std::vector<Candidate>& candidates, const plan::Cores& cores);

}  // namespace gnomon::tuner
