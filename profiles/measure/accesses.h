#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// How often each vertex was used.
using Counts = std::vector<std::int32_t>;

/// The hits of a cache that holds `order`'s vertices, the first ones first, on uses counted in `uses`: points
/// at a dozen shares of all vertices, by `weights` (bytes of each; empty: all alike), and one where `order`
/// ends. What `order` leaves out comes last. Nothing when nothing was used.
std::vector<HitPoint> hit_points(std::span<const graph::VertexId> order, const Counts& uses,
                                 const std::vector<double>& weights);

/// The skew (Accesses::skew) with which the best choice answers as many uses as a curve's point nearest to a
/// tenth of all; 0 without points.
double fitted_skew(const std::vector<HitPoint>& best);

struct AccessOptions {
  double time_limit_s = 1;                  ///< of the sampling; two batches are always sampled
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws base::Interrupted
};

/// Samples mini-batches of two epochs by turns, counts what they use, and fills in the workload's accesses
/// (what a cache by out-degree, by the counts of the first epoch, by those and the lists' sizes, or by the
/// true counts of the second (of lists, by those and their sizes) would have answered of the second) and the
/// sampling part of its stages, which have been measured before. The fewer batches there is time for, the
/// further below the truth are hits by counts, and the further above it those of the true ones.
void measure_accesses(const graph::Graph& graph, const plan::Job& job, const AccessOptions& options,
                      WorkloadProfile& workload);

}  // namespace gnomon::profiles
