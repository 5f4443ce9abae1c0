#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/stop.h"
#include "graph/partition/hubs.h"
#include "graph/partition/macro_batches.h"
#include "graph/partition/partition.h"
#include "plan/plan.h"
#include "profiles/measure/statistics.h"
#include "reproduce/measure/counted_epochs.h"
#include "reproduce/measure/measured_case.h"

/// Measurements of partitions.
namespace gnomon::reproduce {
namespace {

using graph::PartitionMethod;
using graph::WorkingSet;

std::vector<WorkingSet> sets_of(const MeasuredCase& measured, PartitionMethod method, int parts, int resident,
                                std::span<const graph::VertexId> hubs) {
  graph::PartitionRequest request;
  request.method = method;
  request.parts = parts;
  request.seed = measured.job.seed;
  const auto part_of = graph::partition(measured.graph, request, measured.progress);
  return graph::working_sets(measured.graph, part_of,
                             graph::macro_batches(parts, resident, measured.job.seed, 0), hubs,
                             measured.progress);
}

std::int64_t sum_of(const std::vector<WorkingSet>& sets, std::int64_t WorkingSet::*field) {
  return std::accumulate(sets.begin(), sets.end(), std::int64_t{0},
                         [field](std::int64_t sum, const WorkingSet& set) { return sum + set.*field; });
}

/// The vertices that mini-batches of that size read per training vertex: the mean of an epoch, or of as many
/// mini-batches as can be sampled in a second.
double sampled_vertices(const MeasuredCase& measured, std::int64_t batch_size) {
  auto job = measured.job;
  job.batch_size = static_cast<int>(batch_size);
  const auto epochs = profiles::sample_two_epochs(measured.graph, job, {1, measured.stop, measured.progress});
  double vertices = 0;
  double seeds = 0;
  for (const auto& batch : epochs.first.batches) {
    vertices += static_cast<double>(batch.vertices);
    seeds += static_cast<double>(batch.hops.front().destinations);
  }
  return vertices / seeds;
}

}  // namespace

Chart vertices_read(const MeasuredCase& measured) {
  const double hub_ratio = plan::find_plan("hanoi").macro.hub_ratio;
  constexpr int min_train = 8;  // per part
  const auto influence =
      graph::influence_on_training(measured.graph, measured.job.layers(), measured.progress);
  const auto hubs =
      graph::hubs_of(influence, std::llround(hub_ratio * static_cast<double>(measured.graph.num_vertices())));
  const auto train = std::ssize(measured.graph.train);
  Chart chart;
  chart.series = {{"parts and hubs", false, {}}, {"neighbour sampling", false, {}}};
  int max_parts = 1;
  while (2 * max_parts * min_train <= train) {
    max_parts *= 2;
  }
  for (int parts = max_parts; parts >= 1; parts /= 2) {
    const auto sets = sets_of(measured, PartitionMethod::gnn_aware, parts, 1, hubs);
    // Hubs within the part are read once; the part has its share of them.
    const double others = static_cast<double>(hubs.size()) * (parts - 1) / parts;
    const double read = static_cast<double>(sum_of(sets, &WorkingSet::vertices)) + parts * others;
    const auto per_part = static_cast<double>(train) / parts;
    chart.series[0].points.push_back({per_part, read / static_cast<double>(train)});
    chart.series[1].points.push_back({per_part, sampled_vertices(measured, std::llround(per_part))});
  }
  return chart;
}

Chart resident_edges(const MeasuredCase& measured) {
  constexpr int parts = 32;
  const auto vertices = static_cast<double>(measured.graph.num_vertices());
  const auto edges = static_cast<double>(measured.graph.num_edges());
  Chart chart;
  chart.categories = {"whole", "1/8", "1/16"};
  chart.series = {{"random parts", false, {{0, edges / vertices}}}, {"GAP", false, {{0, edges / vertices}}}};
  for (auto& series : chart.series) {
    for (const int share : {8, 16}) {
      const auto method = series.name == "GAP" ? PartitionMethod::gnn_aware : PartitionMethod::random;
      const auto sets = sets_of(measured, method, parts, parts / share, {});
      series.points.push_back({static_cast<double>(series.points.size()),
                               static_cast<double>(sum_of(sets, &WorkingSet::edges_within)) / vertices});
    }
  }
  return chart;
}

Chart partition_time(const MeasuredCase& measured) {
  struct Method {
    const char* name;
    PartitionMethod method;
    std::optional<double> max_load;
  };
  const Method methods[] = {{"GAP", PartitionMethod::gnn_aware, std::nullopt},
                            {"GAP with Fennel's limit", PartitionMethod::gnn_aware, 1.1},
                            {"METIS", PartitionMethod::metis, std::nullopt},
                            {"random", PartitionMethod::random, std::nullopt}};
  Chart chart;
  for (const auto& [name, method, max_load] : methods) {
    auto& series = chart.series.emplace_back(ChartSeries{name, false, {}});
    for (int parts = 16; parts <= 4096 && parts <= measured.graph.num_vertices(); parts *= 4) {
      graph::PartitionRequest request;
      request.method = method;
      request.parts = parts;
      request.max_load = max_load;
      base::check_stop(measured.stop);
      const profiles::Stopwatch watch;
      try {
        graph::partition(measured.graph, request, measured.progress);
      } catch (const base::InputError& error) {  // the build lacks METIS, or the graph has too few vertices
        chart.missing.push_back(std::string(name) + ": " + error.what());
        break;
      }
      series.points.push_back({static_cast<double>(parts), watch.seconds()});
    }
  }
  return chart;
}

}  // namespace gnomon::reproduce
