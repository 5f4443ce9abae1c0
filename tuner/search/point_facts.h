#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "profiles/profile.h"
#include "tuner/search/consumption_limits.h"
#include "tuner/space/space.h"

namespace gnomon::tuner {

/// Properties of a space's points that need no simulation, each computed once: lower bounds, estimated epochs
/// and feasibility. The profile and the space must outlive it.
class PointFacts {
 public:
  PointFacts(const profiles::Profile& profile, const Space& space, const ConsumptionLimits& limits = {});

  /// The lower bound of the mean costs (sim::lower_bound_s; microseconds to compute). Plans that differ only
  /// in buffers, look-ahead and order share it. If batches differ, an epoch whose batches take either route
  /// may be slightly under it.
  double lower_bound_s(const Point& point);
  /// The epoch by arithmetic with mean costs (sim::predict_quickly), of at most 240 batches, scaled to the
  /// whole epoch: within a few percent of the simulated one. For a plan over the limits it is multiplied by
  /// ten times the share of the limits that the plan takes. Precondition: the point is feasible.
  double estimate_s(const Point& point);
  /// Space::is_feasible.
  bool is_feasible(const Point& point);

  /// The numbers of lower bounds and estimates computed.
  std::int64_t num_bounds() const { return std::ssize(bounds_); }
  std::int64_t num_estimates() const { return std::ssize(estimates_); }

 private:
  const profiles::Profile& profile_;
  const Space& space_;
  ConsumptionLimits limits_;
  profiles::Profile short_;
  std::map<std::vector<double>, double> bounds_;
  std::map<Point, double> estimates_;
  std::map<Point, bool> feasible_;
};

}  // namespace gnomon::tuner
