#pragma once

#include "plan/plan.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// The last hop, furthest from the seeds, of an average mini-batch.
struct Bottom {
  double destinations = 0;  ///< of the model's first layer
  double edges = 0;
  double edge_share = 1;  ///< of the edges of all hops
};

/// As measured, or else in proportion to the job's fanouts, where -1 (all neighbours) counts as the largest
/// other fanout.
Bottom bottom_of(const profiles::WorkloadProfile& workload);

/// The adjacency lists that sampling an average mini-batch reads, those of the destinations of each hop: a
/// vertex of several hops counts in each. The outermost vertices' lists are not read.
double lists_read(const profiles::WorkloadProfile& workload);

/// The use of hot vertices in a super-batch.
struct HotUse {
  double destinations = 0;    ///< share of the first layer's destinations
  double edges = 0;           ///< share of the edges to them
  double vertices = 0;        ///< share of a batch's vertices that are not sampled
  double uses = 0;            ///< hot destinations of the first layer, summed over all its batches
  double computed = 0;        ///< distinct vertices among them, each refreshed once
  double computed_edges = 0;  ///< to these, relative to those of the first layer in one mini-batch
};
HotUse hot_use_of(const profiles::WorkloadProfile& workload, const plan::Plan& plan);

}  // namespace gnomon::sim
