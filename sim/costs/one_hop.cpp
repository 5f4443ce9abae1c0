#include "sim/costs/one_hop.h"

#include <algorithm>
#include <cmath>

namespace gnomon::sim {

double touched(double vertices, double visits, double skew) {
  if (vertices <= 0 || skew <= 0) {
    return vertices > 0 ? vertices * -std::expm1(-visits / vertices) : 0;
  }
  // Midpoint rule over the ranks: the vertex at rank share u is drawn visits · (1 - skew) · u^-skew /
  // vertices times in the mean.
  constexpr int steps = 1000;
  const double mean = visits * (1 - skew) / vertices;
  double share = 0;
  for (int i = 0; i < steps; ++i) {
    share += -std::expm1(-mean * std::pow((i + 0.5) / steps, -skew)) / steps;
  }
  return vertices * share;
}

OneHop one_hop(const profiles::WorkloadProfile& workload) {
  OneHop hop;
  if (workload.vertices <= 0 || workload.batch_vertices <= 0 || workload.batch_edges <= 0 ||
      workload.job.fanouts.empty()) {
    return hop;
  }
  const auto vertices = static_cast<double>(workload.vertices);
  const double seeds = std::min(vertices, static_cast<double>(workload.job.batch_size));
  const double degree = static_cast<double>(workload.edges) / vertices;
  const int fanout = workload.job.fanouts.front();
  double edges = seeds * (fanout > 0 ? std::min<double>(fanout, degree) : degree);
  hop.halo = touched(vertices, edges) * (1 - seeds / vertices);
  if (workload.hops.size() > 1 && workload.hops.front().destinations > 0) {
    const auto& first = workload.hops.front();
    const double ratio = seeds / first.destinations;
    edges = ratio * first.edges;
    hop.halo = std::min(vertices - seeds, ratio * (workload.hops[1].destinations - first.destinations));
  }
  hop.vertices = (seeds + hop.halo) / workload.batch_vertices;
  hop.edges = edges / workload.batch_edges;
  hop.train = hop.edges * workload.job.layers();
  return hop;
}

}  // namespace gnomon::sim
