#include "profiles/measure/accesses.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "base/index.h"
#include "graph/out_degrees.h"
#include "kernels/cpu/sample/topology.h"
#include "profiles/measure/list_blocks.h"
#include "profiles/measure/statistics.h"
#include "runtime/cache/cache_choice.h"
#include "runtime/disk/direct_file.h"

namespace gnomon::profiles {
namespace {

using graph::VertexId;
using plan::CachePolicy;

constexpr double shares[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};

using base::at;

void add(Counts& counts, const Counts& others) {
  std::transform(counts.begin(), counts.end(), others.begin(), counts.begin(), std::plus<>());
}

/// Adds the mini-batches of an epoch to the sums of each hop.
void add_hops(const EpochCounts& epoch, std::vector<HopCounts>& hops) {
  for (const auto& batch : epoch.batches) {
    hops.resize(batch.hops.size());
    for (std::size_t hop = 0; hop < hops.size(); ++hop) {
      hops[hop].destinations += static_cast<double>(batch.hops[hop].destinations);
      hops[hop].edges += static_cast<double>(batch.hops[hop].edges);
    }
  }
}

/// Means over the mini-batches of both epochs, and standard deviations over the full ones.
std::vector<HopCounts> hops_of(const SampledEpochs& epochs, const plan::Job& job) {
  std::vector<HopCounts> hops;
  add_hops(epochs.first, hops);
  add_hops(epochs.second, hops);
  const auto batches = static_cast<double>(epochs.first.batches.size() + epochs.second.batches.size());
  const auto full = epochs.full_batches(job);
  for (std::size_t hop = 0; hop < hops.size(); ++hop) {
    hops[hop].destinations /= batches;
    hops[hop].edges /= batches;
    if (full.size() > 1) {
      Series destinations;
      Series edges;
      for (const auto& batch : full) {
        destinations.add(static_cast<double>(batch.hops[hop].destinations));
        edges.add(static_cast<double>(batch.hops[hop].edges));
      }
      hops[hop].destinations_deviation = destinations.deviation();
      hops[hop].edges_deviation = edges.deviation();
    }
  }
  return hops;
}

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

Counts sum_of(const Counts& first, const Counts& second) {
  Counts sum = first;
  add(sum, second);
  return sum;
}

/// Items by the number of accesses to them.
std::map<std::int32_t, double> items_by_count(const Counts& uses) {
  std::map<std::int32_t, double> items;
  for (const auto count : uses) {
    if (count > 0) {
      ++items[count];
    }
  }
  return items;
}

/// Items that a random part of the accesses uses.
double used_by_part(const std::map<std::int32_t, double>& items, double part) {
  double used = 0;
  for (const auto& [count, number] : items) {
    used += number * (1 - std::pow(1 - part, count));
  }
  return used;
}

/// The share of accesses to an item that the part before them had used.
double found_by_part(const std::map<std::int32_t, double>& items, double part) {
  double all = 0;
  double missed = 0;
  for (const auto& [count, number] : items) {
    all += number * count;
    missed += number * count * std::pow(1 - part, count - 1);
  }
  return 1 - missed / all;
}

/// The curves of one kind of data; without `degrees` none by out-degree, and with `weights` none of what was
/// used last.
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
  if (!degrees.empty()) {
    add(CachePolicy::out_degree, sorted_by(degrees, by(degrees)));
  }
  add(CachePolicy::presample, sorted_by(before, by(before)));
  add(CachePolicy::value_weight, sorted_by(before, by_value(before)));
  if (weights.empty()) {
    accesses.curves.push_back({CachePolicy::recent, recent_points(sum_of(before, uses))});
  }
  add(CachePolicy::optimal, sorted_by(uses, by_value(uses)));
  accesses.skew = fitted_skew(accesses.curves.back().points);
  accesses.overlap = overlap_of(before, uses);
  return accesses;
}

HotCurves hot_curves(const SampledEpochs& epochs) {
  const Counts destinations = sum_of(epochs.first.destinations, epochs.second.destinations);
  const Counts edges = sum_of(epochs.first.edges, epochs.second.edges);
  const auto order = sorted_by(destinations, [&](VertexId v) { return destinations[at(v)]; });
  return {hit_points(order, destinations, {}), hit_points(order, edges, {})};
}

/// The blocks of a store's lists; none for a graph in memory.
std::optional<ListBlocks> list_blocks_of(const graph::Graph& graph, const plan::Job& job,
                                         const SampledEpochs& epochs) {
  if (graph.directory.empty()) {
    return std::nullopt;
  }
  const runtime::DirectFile file(graph.directory / "indices.npy");
  const auto block_bytes = static_cast<std::int64_t>(file.block_bytes());
  const auto before = count_blocks(graph, job, epochs.first, 0, block_bytes);
  const auto uses = count_blocks(graph, job, epochs.second, 1, block_bytes);
  const double batches = std::max(1.0, static_cast<double>(epochs.second.batches.size()));
  return ListBlocks{static_cast<double>(block_bytes), static_cast<double>(uses.sum()) / batches,
                    uses.reads / batches, accesses_of(before.uses, uses.uses, {}, {})};
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

std::vector<HitPoint> recent_points(const Counts& uses) {
  const auto items = items_by_count(uses);
  const auto all = static_cast<double>(uses.size());
  const double used = used_by_part(items, 1) / std::max(1.0, all);
  std::vector<HitPoint> points;
  for (const double share : shares) {
    if (share >= used) {
      break;
    }
    double low = 0;
    double high = 1;
    for (int i = 0; i < 50; ++i) {
      const double middle = (low + high) / 2;
      (used_by_part(items, middle) < share * all ? low : high) = middle;
    }
    points.push_back({share, found_by_part(items, high)});
  }
  if (used > 0) {
    points.push_back({used, found_by_part(items, 1)});
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

Overlap overlap_of(const Counts& first, const Counts& second) {
  const auto order = sorted_by(first, [&](VertexId v) { return first[at(v)]; });
  const auto shared_over_first = [&](std::size_t vertices) {
    double shared = 0;
    double all = 0;
    for (std::size_t i = 0; i < std::min(vertices, order.size()); ++i) {
      shared += std::min(first[at(order[i])], second[at(order[i])]);
      all += first[at(order[i])];
    }
    return all > 0 ? shared / all : 0;
  };
  return {shared_over_first(first.size()), shared_over_first((first.size() + 9) / 10)};
}

void set_accesses(const graph::Graph& graph, const plan::Job& job, const SampledEpochs& epochs,
                  WorkloadProfile& workload) {
  const auto degrees = graph::out_degrees<Counts::value_type>(graph);
  const auto& [before, uses, batch_s] = epochs;
  workload.features = accesses_of(before.rows, uses.rows, degrees, {});
  workload.topology = accesses_of(before.lists, uses.lists, degrees, list_bytes(graph, job));
  workload.hops = hops_of(epochs, job);
  workload.hot = hot_curves(epochs);
}

void measure_accesses(const graph::Graph& graph, const plan::Job& job, const AccessOptions& options,
                      WorkloadProfile& workload) {
  const auto epochs = sample_two_epochs(graph, job, options);
  // The same kernels sample on a host device.
  const double sample_s = std::min(epochs.batch_s, workload.cpu_batch.mean_s);
  workload.parts.cpu_sample_s = sample_s;
  workload.parts.device_sample_s = sample_s / workload.cpu_batch.mean_s * workload.device_batch.mean_s;
  set_accesses(graph, job, epochs, workload);
  workload.list_blocks = list_blocks_of(graph, job, epochs);
}

}  // namespace gnomon::profiles
