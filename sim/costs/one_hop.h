#pragma once

#include "profiles/profile.h"

namespace gnomon::sim {

/// A mini-batch of one hop, for plans that reuse the embeddings of all vertices, beside the mean measured
/// one.
struct OneHop {
  double vertices = 1;  ///< relative to those of a measured mini-batch
  double edges = 1;     ///< likewise
  double halo = 0;      ///< vertices that are no seeds
  double train = 1;     ///< relative to a measured training: edges along which layers aggregate
};

/// As the first hop was measured, or else from the graph's sizes: a seed then has as many neighbours as the
/// mean, at most the first fanout, each any vertex.
OneHop one_hop(const profiles::WorkloadProfile& workload);

/// Expected number of different vertices among `visits` to `vertices` of them, of which the one of rank r is
/// visited in proportion to r^-skew (profiles::Accesses::skew); 0: all alike.
double touched(double vertices, double visits, double skew = 0);

}  // namespace gnomon::sim
