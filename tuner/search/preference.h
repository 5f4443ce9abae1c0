#pragma once

#include <vector>

#include "plan/plan.h"
#include "tuner/tuner.h"

namespace gnomon::tuner {

/// The standard error of a predicted epoch, relative: `gnomon validate` on several graphs, without a GPU.
inline constexpr double prediction_error = 0.06;

/// Predicted epochs that differ by less, relative, are the same. Where all stages share the cores and their
/// caches it is half of a prediction's error; else a profile is hardly surer than this.
constexpr double same_epoch(const plan::Cores& cores) {
  return plan::runs_on_cores(cores.device) ? prediction_error / 2 : 0.01;
}

/// The plan with buffers of a few mini-batches, as published systems have, and the look-ahead left to the
/// epoch's own stage times: for a real machine, whose times vary by more than they were measured to, and
/// whose caches do not hold many mini-batches. Neither changes what is trained.
plan::Plan with_usual_buffers(plan::Plan plan);

/// Which of these to take: of those that are as fast as the fastest the one with the fewest threads that have
/// no core of their own, for these are the hardest to predict, and with the least buffers beyond the usual;
/// then the fastest. Not of none.
std::size_t preferred(const std::vector<Candidate>& candidates, const plan::Cores& cores);

}  // namespace gnomon::tuner
