#pragma once

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// The hop furthest from the seeds in a mean mini-batch.
struct Bottom {
  double destinations = 0;  ///< of the model's first layer
  double edges = 0;
  double edge_share = 1;  ///< of the edges of all hops
};

/// As measured, or else in proportion to the job's fanouts: what all neighbours (-1) are is then not known,
/// and counts as the widest other fanout.
Bottom bottom_of(const profiles::WorkloadProfile& workload);

/// What a super-batch of a plan uses of hot vertices.
struct HotUse {
  double destinations = 0;  ///< share of the first layer's destinations
  double edges = 0;         ///< share of the edges to them
  double vertices = 0;      ///< share of a batch's vertices that are not sampled
  double uses = 0;          ///< of hot vertices as destinations of the first layer, in all its batches
  double computed = 0;      ///< different vertices among them, each of which is refreshed once
};
HotUse hot_use_of(const profiles::WorkloadProfile& workload, const plan::Plan& plan);

}  // namespace gnomon::sim
