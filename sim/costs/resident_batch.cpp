#include "sim/costs/resident_batch.h"

#include <algorithm>
#include <vector>

#include "sim/costs/cache.h"

namespace gnomon::sim {
namespace {

using profiles::ResidentBatch;
using profiles::ThinBatch;

/// The value of a field at `x` of another, linear between the counts, (0, 0) and (1, 1).
double interpolated(const std::vector<ResidentBatch>& counts, double ResidentBatch::*from,
                    double ResidentBatch::*to, double x) {
  std::vector<profiles::HitPoint> points;
  for (const ResidentBatch& count : counts) {
    points.push_back({count.*from, count.*to});
  }
  return on_curve(points, x);
}

/// The time of a mini-batch, a field of the thin ones, by the mean of its edges and vertices: linear between
/// the measured ones and the usual one, whose size and time are 1, and constant below the smallest. In
/// proportion if none was measured.
double time_at(const std::vector<ThinBatch>& thin, double ThinBatch::*time, const ResidentCosts& batch) {
  const auto size_of = [](double edges, double vertices) { return (edges + vertices) / 2; };
  const double size = size_of(batch.edges, batch.vertices);
  if (thin.empty()) {
    return size;
  }
  double upper_size = 1;
  double upper_time = 1;
  for (std::size_t i = thin.size(); i-- > 0;) {
    const ThinBatch& lower = thin[i];
    const double lower_size = size_of(lower.edges, lower.vertices);
    if (size >= lower_size) {
      const double share = upper_size > lower_size ? (size - lower_size) / (upper_size - lower_size) : 1;
      return lower.*time + share * (upper_time - lower.*time);
    }
    upper_size = lower_size;
    upper_time = lower.*time;
  }
  return upper_time;
}

}  // namespace

ResidentCosts resident_costs(const profiles::WorkloadProfile& workload, const plan::Macro& macro) {
  const auto& counts = workload.resident_batches;
  ResidentCosts costs;
  if (counts.empty()) {
    return costs;
  }
  const double parts = std::min(1.0, static_cast<double>(macro.resident) / macro.partitions);
  double neighbours = interpolated(counts, &ResidentBatch::resident, &ResidentBatch::neighbours, parts);
  const double hubs =
      macro.hub_ratio > 0 ? hit_share(workload.features, plan::CachePolicy::out_degree, macro.hub_ratio) : 0;
  neighbours += (1 - neighbours) * hubs;
  costs.edges = interpolated(counts, &ResidentBatch::neighbours, &ResidentBatch::edges, neighbours);
  costs.vertices = interpolated(counts, &ResidentBatch::neighbours, &ResidentBatch::vertices, neighbours);
  costs.cpu_batch = time_at(workload.thin_batches, &ThinBatch::cpu_batch, costs);
  costs.train = time_at(workload.thin_batches, &ThinBatch::train, costs);
  return costs;
}

}  // namespace gnomon::sim
