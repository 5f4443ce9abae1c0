#pragma once

#include <vector>

#include "plan/vocabulary.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// Returns the hit rate of a cache that holds `share` of all vertices, chosen by `policy`: by the curve
/// measured on the graph or else by the fitted skew s. With the skew, the vertex of rank r is accessed in
/// proportion to r^-s, so the optimal content has the hit rate share^(1-s); the hit rate of a policy depends
/// on the quality of its ranking; for `recent` it is Che's approximation of least recently used.
double hit_share(const profiles::Accesses& accesses, plan::CachePolicy policy, double share);

/// The hit rate of a host cache in the epoch after the one that filled it; each item is accessed `uses` times
/// per epoch on average. Policies that keep what was read (`recent`, `optimal`) have not read everything,
/// however large the cache is: first reads are extrapolated by Heaps' law.
double filled_hit_share(const profiles::Accesses& accesses, plan::CachePolicy policy, double share,
                        double uses);

/// The value of a curve at `share`, interpolated linearly between its points, (0, 0) and (1, 1).
double on_curve(const std::vector<profiles::HitPoint>& points, double share);

/// Returns the hit rate if cached neighbours are drawn `bias` times as likely as others (A3GNN): the odds are
/// multiplied.
double biased_hit_share(double hits, double bias);

/// Sizes of the two kinds of cacheable data, and the time that caching them saves.
struct CacheGains {
  double feature_bytes = 0;   ///< of all rows
  double topology_bytes = 0;  ///< of all adjacency lists
  double feature_s = 0;       ///< saved per batch if every row is cached
  double topology_s = 0;      ///< saved per batch if every list is cached
};

/// The shares of rows and lists that a cache holds.
struct CacheShares {
  double features = 0;
  double topology = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("features", self.features);
    f("topology", self.topology);
  }
};

/// Fills `bytes` with both kinds. `value_weight` takes entries by seconds saved per byte (DUCATI's greedy
/// knapsack, on the curves); any other policy holds the same share of both.
CacheShares fill_cache(const profiles::WorkloadProfile& workload, plan::CachePolicy policy,
                       const CacheGains& gains, double bytes);

}  // namespace gnomon::sim
