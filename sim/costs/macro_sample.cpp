#include "sim/costs/macro_sample.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/costs/one_hop.h"

namespace gnomon::sim {
namespace {

using profiles::WorkloadProfile;

/// Destinations and edges of each hop of a mini-batch, as measured or else in proportion to the fanouts,
/// where -1 (all neighbours) counts as the average degree.
std::vector<std::pair<double, double>> hops_of(const WorkloadProfile& workload, double degree) {
  std::vector<std::pair<double, double>> hops;
  for (const auto& hop : workload.hops) {
    hops.emplace_back(hop.destinations, hop.edges);
  }
  double frontier = 1;
  for (std::size_t i = 0; workload.hops.empty() && i < workload.job.fanouts.size(); ++i) {
    const int fanout = workload.job.fanouts[i];
    const double edges = frontier * (fanout > 0 ? fanout : std::max(1.0, degree));
    hops.emplace_back(frontier, edges);
    frontier += edges;
  }
  return hops;
}

/// The growth of the draws of a mini-batch's vertices if each hop draws `factor` times as many neighbours, at
/// most the average degree.
double growth_of(const WorkloadProfile& workload, int factor) {
  const double degree = workload.vertices > 0
                            ? static_cast<double>(workload.edges) / static_cast<double>(workload.vertices)
                            : 0;
  double before = 0;
  double after = 0;
  double growth = 1;
  for (const auto& [destinations, edges] : hops_of(workload, degree)) {
    const double list = destinations > 0 ? edges / destinations : 0;
    growth *= list > 0 ? std::max(1.0, std::min<double>(factor, degree / list)) : 1;
    before += edges;
    after += edges * growth;
  }
  return before > 0 ? after / before : 1;
}

}  // namespace

MacroSample macro_sample(const WorkloadProfile& workload, const plan::Plan& plan) {
  const double part = static_cast<double>(plan.macro.resident) / plan.macro.partitions;
  const double batches = part * static_cast<double>(workload.batches);
  const bool cut = plan.embeddings.reuse == plan::Reuse::halo;
  const double pool = static_cast<double>(workload.vertices) * (cut ? part : 1);
  const bool samples = !cut || plan.macro.sampled_ahead;
  // Each hop draws at most once for each vertex of the graph.
  const double drawn = batches * workload.batch_edges;
  const double most = static_cast<double>(workload.edges) * std::max(1, workload.job.layers());
  double draws = growth_of(workload, plan.macro.fanout_factor);
  draws = drawn > 0 ? std::max(1.0, std::min(draws, most / drawn)) : draws;
  MacroSample sample;
  sample.vertices =
      samples ? touched(pool, draws * batches * workload.batch_vertices, workload.features.skew) : pool;
  const double lists =
      static_cast<double>(workload.edges) * (pool > 0 ? sample.vertices / pool : 0) * (cut ? part : 1);
  sample.entries = cut ? static_cast<double>(workload.edges) * part : 0;
  sample.edges = samples ? std::min(lists, draws * drawn) : lists;
  sample.draws = samples ? draws : 0;
  sample.drawn = cut ? 0 : draws * drawn;
  return sample;
}

}  // namespace gnomon::sim
