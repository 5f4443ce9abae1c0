#pragma once

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// A macro-batch that the CPU samples from the graph in memory, or that it copies as far as its mini-batches,
/// sampled ahead, use it.
struct MacroSample {
  double vertices = 0;  ///< distinct
  double edges = 0;     ///< of the lists
  double entries = 0;   ///< of the lists of its parts, all of which are visited; 0 if it has none
  double drawn = 0;     ///< edges of which lists are made; 0 if its parts have lists
  double draws = 0;     ///< relative to those of its mini-batches, by which the sampling takes longer
};

/// On average: macro-batches are assumed to have equal numbers of training vertices, and their draws to
/// visit vertices with the profile's skew. With macro.fanout_factor above 1 each list grows by the factor, at
/// most to the graph's average degree, and the draws of a hop by the growth of all hops up to it.
MacroSample macro_sample(const profiles::WorkloadProfile& workload, const plan::Plan& plan);

}  // namespace gnomon::sim
