#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"
#include "plan/job.h"
#include "profiles/measure/sampled_epochs.h"
#include "profiles/profile.h"

namespace gnomon::profiles {

/// Returns the hit curve of a cache that takes vertices in this order, for accesses counted in `uses`: points
/// at a dozen shares of all vertices, weighted by `weights` (the bytes of each; empty: equal), and one at the
/// end of `order`. Vertices that are not in `order` come last. Empty if nothing was used.
std::vector<HitPoint> hit_points(std::span<const graph::VertexId> order, const Counts& uses,
                                 const std::vector<double>& weights);

/// Returns the hit curve of a cache of equal-sized items that keeps what was used last, for random accesses
/// as often as `uses` counts: points at shares of all items as hit_points(), and one at the share that is
/// used at all. A random part f of the accesses uses sum(1 - (1 - f)^c) items of counts c, and the growth of
/// this number is the share of accesses that miss a cache of that size (Denning and Schwartz, Properties of
/// the working-set model, 1972). Empty if nothing was used.
std::vector<HitPoint> recent_points(const Counts& uses);

/// Fits the skew (Accesses::skew) to the point of the curve that is nearest to a tenth of all vertices,
/// assuming the optimal cache content; 0 without points.
double fitted_skew(const std::vector<HitPoint>& best);

/// Returns the similarity of two epochs' counts.
Overlap overlap_of(const Counts& first, const Counts& second);

/// Sets the workload's accesses from the counts of two epochs: the hit rates in the second epoch of caches
/// chosen by out-degree, by the first epoch's counts, by these counts and list sizes, and by the second
/// epoch's own counts (for lists: counts and sizes). With few batches, hits by the first epoch's counts are
/// biased low and those by the second epoch's counts are biased high.
///
/// Hits of rows used last, hop counts and hot vertices are based on both epochs.
void set_accesses(const graph::Graph& graph, const plan::Job& job, const SampledEpochs& epochs,
                  WorkloadProfile& workload);

/// Samples two epochs and sets the workload's accesses. Also sets the sampling parts of the stages, which
/// must have been measured.
void measure_accesses(const graph::Graph& graph, const plan::Job& job, const AccessOptions& options,
                      WorkloadProfile& workload);

}  // namespace gnomon::profiles
