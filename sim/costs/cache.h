#pragma once

#include <vector>

#include "plan/vocabulary.h"
#include "profiles/profile.h"

namespace gnomon::sim {

/// Returns the hit rate of a cache that holds `share` of all vertices, chosen by `policy`: by the curve
/// measured on the graph or else by the fitted skew s. By the skew, the vertex of rank r of V is used in
/// proportion to r^-s, so the best choice answers share^(1-s); how well a policy knows the ranks decides how
/// near it comes. `recent` is Che's approximation of least recently used.
double hit_share(const profiles::Accesses& accesses, plan::CachePolicy policy, double share);

/// The same for a cache before the disk that one epoch has filled, in the next epoch; each of the items has
/// on average `uses` in an epoch. Policies that keep what was read (`recent`, `optimal`) have not read
/// everything, however large the cache is: first reads are extrapolated by Heaps' law.
double filled_hit_share(const profiles::Accesses& accesses, plan::CachePolicy policy, double share,
                        double uses);

/// The value of a curve at `share`, linear between its points, (0, 0) and (1, 1).
double on_curve(const std::vector<profiles::HitPoint>& points, double share);

/// Returns the hit rate if cached neighbours are drawn `bias` times as likely as others (A3GNN): the odds are
/// multiplied.
double biased_hit_share(double hits, double bias);

/// Sizes of the two kinds of data that a cache may hold, and what it saves.
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
