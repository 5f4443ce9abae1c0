#pragma once

#include "plan/job.h"
#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// Shares of a batch's edges and vertices by hop, from fanouts alone: what all neighbours (-1) are is not
/// known, and counts as the widest other fanout.
struct Hops {
  double bottom_edges = 1;  ///< the hop furthest from the seeds
  double bottom_vertices = 1;
};

Hops hops_of(const plan::Job& job);

/// What a super-batch of a plan uses of hot vertices.
struct HotUse {
  double share = 0;     ///< of a batch's visits
  double uses = 0;      ///< of hot vertices as destinations of the first layer, in all its batches
  double computed = 0;  ///< different vertices among them, each of which is refreshed once
};
HotUse hot_use_of(const profiles::WorkloadProfile& workload, const plan::Plan& plan);

}  // namespace gnomon::sim
