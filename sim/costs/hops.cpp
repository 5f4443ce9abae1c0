#include "sim/costs/hops.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/costs/cache.h"
#include "sim/costs/one_hop.h"

namespace gnomon::sim {
namespace {

/// The vertices of a seed's tree of draws, level by level from the seed, where -1 (all neighbours) counts as
/// the largest other fanout.
std::vector<double> tree_levels(const std::vector<int>& fanouts) {
  const int widest = fanouts.empty() ? 1 : *std::max_element(fanouts.begin(), fanouts.end());
  std::vector<double> levels{1};
  for (const int fanout : fanouts) {
    levels.push_back(levels.back() * (fanout > 0 ? fanout : std::max(1, widest)));
  }
  return levels;
}

Bottom by_fanouts(const profiles::WorkloadProfile& workload) {
  const auto levels = tree_levels(workload.job.fanouts);
  if (levels.size() == 1) {
    return {0, workload.batch_edges, 1};
  }
  const double all = std::accumulate(levels.begin(), levels.end(), 0.0);
  const double edge_share = levels.back() / (all - 1);
  return {(1 - levels.back() / all) * workload.batch_vertices, edge_share * workload.batch_edges, edge_share};
}

/// The number of vertices from which `visits` random draws hit `vertices` distinct ones.
double pool_of(double vertices, double visits) {
  double low = vertices;
  double high = 1e6 * visits;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (touched(middle, visits) < vertices ? low : high) = middle;
  }
  return high;
}

/// The share of a batch's vertices that are hot destinations or only reachable through them.
double vertices_saved(double batch_vertices, const Bottom& bottom, const HotUse& hot) {
  const double visits = bottom.destinations + bottom.edges;
  if (batch_vertices <= 0 || visits <= batch_vertices) {
    return hot.edges;
  }
  const double left = (1 - hot.destinations) * bottom.destinations + (1 - hot.edges) * bottom.edges;
  return 1 - touched(pool_of(batch_vertices, visits), left) / batch_vertices;
}

/// Sets the distinct vertices among the uses in a super-batch, and their edges. Between two points of the
/// curves, all vertices are used alike and have equal numbers of edges.
void count_distinct(const profiles::HotCurves& curves, double ratio, double vertices, double uses,
                    double batches, HotUse& use) {
  profiles::HitPoint before;
  double edges_before = 0;
  const auto add_until = [&](double share) {
    const double edges = on_curve(curves.edges, share);
    const profiles::HitPoint point{share, on_curve(curves.destinations, share)};
    const double visits = uses * (point.hits - before.hits);
    const double distinct = touched(vertices * (share - before.share), visits);
    use.computed += distinct;
    use.computed_edges += visits > 0 ? batches * (edges - edges_before) * distinct / visits : 0;
    before = point;
    edges_before = edges;
  };
  for (const auto& point : curves.destinations) {
    if (point.share < ratio) {
      add_until(point.share);
    }
  }
  add_until(ratio);
}

}  // namespace

Bottom bottom_of(const profiles::WorkloadProfile& workload) {
  if (workload.hops.empty()) {
    return by_fanouts(workload);
  }
  double edges = 0;
  for (const auto& hop : workload.hops) {
    edges += hop.edges;
  }
  const auto& last = workload.hops.back();
  return {last.destinations, last.edges, edges > 0 ? last.edges / edges : 1};
}

double lists_read(const profiles::WorkloadProfile& workload) {
  double lists = 0;
  if (!workload.hops.empty()) {
    for (const auto& hop : workload.hops) {
      lists += hop.destinations;
    }
    return lists;
  }
  double reached = 0;
  const auto levels = tree_levels(workload.job.fanouts);
  for (std::size_t hop = 0; hop + 1 < levels.size(); ++hop) {
    reached += levels[hop];
    lists += reached;
  }
  return workload.batch_vertices * lists / (reached + levels.back());
}

HotUse hot_use_of(const profiles::WorkloadProfile& workload, const plan::Plan& plan) {
  const double ratio = plan.embeddings.hot_ratio;
  const double batches = static_cast<double>(plan.super_batch) * plan.devices;
  const Bottom bottom = bottom_of(workload);
  HotUse use;
  if (workload.hot) {
    use.destinations = on_curve(workload.hot->destinations, ratio);
    use.edges = on_curve(workload.hot->edges, ratio);
    use.vertices = vertices_saved(workload.batch_vertices, bottom, use);
  } else {
    use.destinations = use.edges = hit_share(workload.features, plan::CachePolicy::presample, ratio);
    const double destinations =
        workload.batch_vertices > 0 ? bottom.destinations / workload.batch_vertices : 1;
    use.vertices = (1 - destinations) * use.destinations;
  }
  use.uses = batches * use.destinations * bottom.destinations;
  const auto vertices = static_cast<double>(workload.vertices);
  if (workload.hot) {
    count_distinct(*workload.hot, ratio, vertices, batches * bottom.destinations, batches, use);
  } else {
    use.computed = touched(ratio * vertices, use.uses);
    use.computed_edges = batches * use.edges * (use.uses > 0 ? use.computed / use.uses : 1);
  }
  return use;
}

}  // namespace gnomon::sim
