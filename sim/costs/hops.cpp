#include "sim/costs/hops.h"

#include <algorithm>

#include "sim/costs/cache.h"
#include "sim/costs/one_hop.h"

namespace gnomon::sim {

Hops hops_of(const plan::Job& job) {
  if (job.fanouts.empty()) {
    return {};
  }
  const int widest = *std::max_element(job.fanouts.begin(), job.fanouts.end());
  double frontier = 1;
  double edges = 0;
  double vertices = 1;
  Hops hops;
  for (std::size_t hop = 0; hop < job.fanouts.size(); ++hop) {
    frontier *= job.fanouts[hop] > 0 ? job.fanouts[hop] : std::max(1, widest);
    edges += frontier;
    vertices += frontier;
  }
  hops.bottom_edges = frontier / edges;
  hops.bottom_vertices = frontier / vertices;
  return hops;
}

HotUse hot_use_of(const profiles::WorkloadProfile& workload, const plan::Plan& plan) {
  const double ratio = plan.embeddings.hot_ratio;
  const double batches = static_cast<double>(plan.super_batch) * plan.devices;
  HotUse use;
  use.share = hit_share(workload.features, plan::CachePolicy::presample, ratio);
  use.uses = batches * use.share * (1 - hops_of(workload.job).bottom_vertices) * workload.batch_vertices;
  use.computed = touched(ratio * static_cast<double>(workload.vertices), use.uses);
  return use;
}

}  // namespace gnomon::sim
