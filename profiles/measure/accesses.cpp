#include "profiles/measure/accesses.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/index.h"
#include "base/median.h"
#include "graph/epoch_order.h"
#include "kernels/cpu/sample/sampler.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/statistics.h"
#include "runtime/cache/cache_choice.h"
#include "runtime/stages.h"

namespace gnomon::profiles {
namespace {

using graph::VertexId;
using plan::CachePolicy;

constexpr double shares[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};

using base::at;

/// The accesses of one epoch's mini-batches.
struct Uses {
  explicit Uses(std::int64_t vertices)
      : rows(at(vertices)), lists(at(vertices)), destinations(at(vertices)), edges(at(vertices)) {}

  void add(const kernels::MiniBatch& batch) {
    for (const VertexId vertex : batch.vertices) {
      ++rows[at(vertex)];
    }
    for (const auto& block : batch.blocks) {
      for (std::int64_t i = 0; i < block.num_destinations; ++i) {
        ++lists[at(batch.vertices[at(i)])];
      }
    }
    const auto& bottom = batch.blocks.back();
    for (std::int64_t i = 0; i < bottom.num_destinations; ++i) {
      const auto vertex = at(batch.vertices[at(i)]);
      ++destinations[vertex];
      edges[vertex] += static_cast<std::int32_t>(bottom.indptr[at(i) + 1] - bottom.indptr[at(i)]);
    }
    count_hops(batch);
  }

  void count_hops(const kernels::MiniBatch& batch) {
    hops.resize(batch.blocks.size());
    for (std::size_t hop = 0; hop < hops.size(); ++hop) {
      hops[hop].destinations += static_cast<double>(batch.blocks[hop].num_destinations);
      hops[hop].edges += static_cast<double>(batch.blocks[hop].num_edges());
    }
    ++batches;
  }

  Counts rows;
  Counts lists;
  Counts destinations;          ///< of the first layer
  Counts edges;                 ///< to these
  std::vector<HopCounts> hops;  ///< sums
  std::int64_t batches = 0;
};

void add(Counts& counts, const Counts& others) {
  std::transform(counts.begin(), counts.end(), others.begin(), counts.begin(), std::plus<>());
}

/// Means of the mini-batches of both epochs.
std::vector<HopCounts> mean_hops(const Uses& first, const Uses& second) {
  std::vector<HopCounts> hops = first.hops;
  const auto batches = static_cast<double>(first.batches + second.batches);
  for (std::size_t hop = 0; hop < hops.size(); ++hop) {
    hops[hop].destinations = (hops[hop].destinations + second.hops[hop].destinations) / batches;
    hops[hop].edges = (hops[hop].edges + second.hops[hop].edges) / batches;
  }
  return hops;
}

/// Samples and times mini-batches on one thread.
class Sampling {
 public:
  Sampling(const graph::Graph& graph, const plan::Job& job)
      : graph_(graph),
        job_(job),
        sampler_(kernels::cpu::resident_copy_if_fits(graph, runtime::draws_of(graph, job)), job.fanouts) {}

  std::int64_t batches() const { return graph::num_batches(std::ssize(graph_.train), job_.batch_size); }

  void run(std::uint64_t epoch, std::int64_t batch, Uses& uses) {
    if (orders_[epoch % 2].empty()) {
      orders_[epoch % 2] = graph::epoch_order(graph_.train, job_.seed, epoch);
    }
    const auto seeds = graph::batch_seeds(orders_[epoch % 2], job_.batch_size, batch);
    const Stopwatch watch;
    sampler_.sample({job_.seed, epoch, static_cast<std::uint64_t>(batch)}, seeds, batch_);
    times_s_.push_back(watch.seconds());
    uses.add(batch_);
  }

  double median_s() const { return base::median(times_s_); }

 private:
  const graph::Graph& graph_;
  const plan::Job& job_;
  kernels::cpu::Sampler sampler_;
  std::vector<VertexId> orders_[2];
  kernels::MiniBatch batch_;
  std::vector<double> times_s_;
};

/// The used vertices by descending keys; ties by ascending id.
template <class Key>
std::vector<VertexId> sorted_by(const Counts& uses, Key key) {
  std::vector<VertexId> order;
  for (VertexId vertex = 0; vertex < std::ssize(uses); ++vertex) {
    if (uses[at(vertex)] > 0) {
      order.push_back(vertex);
    }
  }
  std::stable_sort(order.begin(), order.end(), [&](VertexId a, VertexId b) { return key(a) > key(b); });
  return order;
}

/// The out-degree of each vertex.
Counts out_degrees(const graph::Graph& graph) {
  Counts degrees(at(graph.num_vertices()));
  for (const VertexId neighbour : graph.indices) {
    ++degrees[at(neighbour)];
  }
  return degrees;
}

/// Bytes of each adjacency list in a cache.
std::vector<double> list_bytes(const graph::Graph& graph, const plan::Job& job) {
  const auto column_bytes = job.weighted ? std::int64_t{sizeof(kernels::AliasColumn)} : 0;
  const std::int64_t neighbour_bytes = kernels::cpu::index_bytes(graph.num_vertices()) + column_bytes;
  std::vector<double> bytes(at(graph.num_vertices()));
  for (VertexId vertex = 0; vertex < graph.num_vertices(); ++vertex) {
    bytes[at(vertex)] = static_cast<double>(runtime::list_bytes(graph.degree(vertex), neighbour_bytes));
  }
  return bytes;
}

/// The curves of one kind of data.
Accesses accesses_of(const Counts& before, const Counts& uses, const Counts& degrees,
                     const std::vector<double>& weights) {
  const auto by = [](const Counts& counts) { return [&counts](VertexId v) { return counts[at(v)]; }; };
  const auto by_value = [&weights](const Counts& counts) {
    return [&weights, &counts](VertexId v) {
      return weights.empty() ? counts[at(v)] : counts[at(v)] / weights[at(v)];
    };
  };
  Accesses accesses;
  const auto add = [&](CachePolicy policy, const std::vector<VertexId>& order) {
    accesses.curves.push_back({policy, hit_points(order, uses, weights)});
  };
  add(CachePolicy::out_degree, sorted_by(degrees, by(degrees)));
  add(CachePolicy::presample, sorted_by(before, by(before)));
  add(CachePolicy::value_weight, sorted_by(before, by_value(before)));
  add(CachePolicy::optimal, sorted_by(uses, by_value(uses)));
  accesses.skew = fitted_skew(accesses.curves.back().points);
  return accesses;
}

HotCurves hot_curves(Uses first, const Uses& second) {
  add(first.destinations, second.destinations);
  add(first.edges, second.edges);
  const auto order = sorted_by(first.destinations, [&](VertexId v) { return first.destinations[at(v)]; });
  return {hit_points(order, first.destinations, {}), hit_points(order, first.edges, {})};
}

}  // namespace

std::vector<HitPoint> hit_points(std::span<const VertexId> order, const Counts& uses,
                                 const std::vector<double>& weights) {
  const auto weight = [&](VertexId vertex) { return weights.empty() ? 1.0 : weights[at(vertex)]; };
  const double all_uses = std::accumulate(uses.begin(), uses.end(), 0.0);
  const double all_weights = weights.empty() ? static_cast<double>(uses.size())
                                             : std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<HitPoint> points;
  double held = 0;
  double hits = 0;
  const double* next = std::begin(shares);
  for (std::size_t i = 0; i < order.size() && all_uses > 0; ++i) {
    held += weight(order[i]) / all_weights;
    hits += uses[at(order[i])] / all_uses;
    const bool is_last = i + 1 == order.size();
    if (is_last || (next != std::end(shares) && held >= *next)) {
      points.push_back({std::min(held, 1.0), std::min(hits, 1.0)});
      next = std::find_if(next, std::end(shares), [held](double share) { return share > held; });
    }
  }
  return points;
}

double fitted_skew(const std::vector<HitPoint>& best) {
  const auto far = [](const HitPoint& point) {
    return std::abs(std::log(std::max(point.share, 1e-12) / 0.1));
  };
  const auto nearest = std::min_element(
      best.begin(), best.end(), [&](const HitPoint& a, const HitPoint& b) { return far(a) < far(b); });
  if (nearest == best.end() || nearest->share <= 0 || nearest->share >= 1 || nearest->hits <= 0) {
    return 0;
  }
  return std::clamp(1 - std::log(nearest->hits) / std::log(nearest->share), 0.0, 0.999);
}

void measure_accesses(const graph::Graph& graph, const plan::Job& job, const AccessOptions& options,
                      WorkloadProfile& workload) {
  Sampling sampling(graph, job);
  Uses before(graph.num_vertices());
  Uses uses(graph.num_vertices());
  const Stopwatch watch;
  for (std::int64_t batch = 0; batch < sampling.batches(); ++batch) {
    throw_if_stopped(options.stop);
    if (batch > 0 && watch.seconds() >= options.time_limit_s) {
      break;
    }
    sampling.run(0, batch, before);
    sampling.run(1, batch, uses);
  }
  // The same kernels sample on a host device.
  const double sample_s = std::min(sampling.median_s(), workload.cpu_batch.mean_s);
  workload.parts.cpu_sample_s = sample_s;
  workload.parts.device_sample_s = sample_s / workload.cpu_batch.mean_s * workload.device_batch.mean_s;
  const Counts degrees = out_degrees(graph);
  workload.features = accesses_of(before.rows, uses.rows, degrees, {});
  workload.topology = accesses_of(before.lists, uses.lists, degrees, list_bytes(graph, job));
  workload.hops = mean_hops(before, uses);
  workload.hot = hot_curves(std::move(before), uses);
}

}  // namespace gnomon::profiles
