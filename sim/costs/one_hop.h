#pragma once

#include "profiles/profile.h"

namespace gnomon::sim {

/// The one-hop mini-batch of plans that reuse the embeddings of all vertices, relative to the measured mean.
struct OneHop {
  double vertices = 1;  ///< relative to those of a measured mini-batch
  double edges = 1;     ///< relative to those of a measured mini-batch
  double halo = 0;      ///< vertices that are not seeds
  double train = 1;     ///< relative to a measured training: edges along which layers aggregate
};

/// From the measured first hop, or else from the graph's sizes: a seed then has the average degree, at most
/// the first fanout, and random neighbours.
OneHop one_hop(const profiles::WorkloadProfile& workload);

/// Expected number of distinct vertices among `visits` random draws from `vertices`, the one of rank r in
/// proportion to r^-skew (profiles::Accesses::skew); 0: uniform.
double touched(double vertices, double visits, double skew = 0);

}  // namespace gnomon::sim
