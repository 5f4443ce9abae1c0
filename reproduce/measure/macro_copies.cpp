#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/ranked_bits.h"
#include "base/stop.h"
#include "plan/plan.h"
#include "reproduce/measure/counted_epochs.h"
#include "reproduce/measure/measured_case.h"
#include "runtime/macro/parts_of_plan.h"

/// Measurements of what macro-batches copy.
namespace gnomon::reproduce {
namespace {

constexpr double id_bytes = 4;
constexpr double pointer_bytes = 8;

/// The bytes of an epoch's mini-batches or of macro-batches that are sampled like them.
double sampled_bytes(const MeasuredCase& measured, std::int64_t batch_size) {
  auto job = measured.job;
  job.batch_size = static_cast<int>(batch_size);
  double bytes = 0;
  for (const auto& batch :
       measured.counted.of(measured.graph, job, measured.progress, measured.stop).first.batches) {
    bytes += batch_bytes(measured.graph, batch);
  }
  return bytes;
}

/// The bytes of an epoch's macro-batches of parts: the rows of their vertices and of their halo, the vertices
/// of other parts from which they gather, and their own lists.
double parts_bytes(const MeasuredCase& measured, const plan::Macro& macro) {
  const auto& graph = measured.graph;
  const auto part_of = graph::partition(graph, runtime::request_of(macro), measured.progress);
  std::vector<std::vector<graph::VertexId>> members(static_cast<std::size_t>(macro.partitions));
  for (std::int64_t vertex = 0; vertex < graph.num_vertices(); ++vertex) {
    members[static_cast<std::size_t>(part_of[static_cast<std::size_t>(vertex)])].push_back(
        static_cast<graph::VertexId>(vertex));
  }
  double bytes = 0;
  const auto groups = runtime::groups_of_parts(
      macro, measured.job.seed, 0, graph.train,
      [&](graph::VertexId vertex) { return part_of[static_cast<std::size_t>(vertex)]; });
  for (const auto& group : groups) {
    base::check_stop(measured.stop);
    base::RankedBits rows(graph.num_vertices());
    for (const auto part : group.parts) {
      for (const auto vertex : members[static_cast<std::size_t>(part)]) {
        rows.add(vertex);
        std::ranges::for_each(graph.neighbours(vertex), [&](auto neighbour) { rows.add(neighbour); });
        bytes += id_bytes * static_cast<double>(graph.degree(vertex)) + pointer_bytes;
      }
    }
    bytes += static_cast<double>(rows.count()) * static_cast<double>(graph.features.row_bytes());
  }
  return bytes;
}

}  // namespace

Chart copied_bytes(const MeasuredCase& measured) {
  const auto train = std::ssize(measured.graph.train);
  Chart chart;
  auto& copies = chart.series.emplace_back(ChartSeries{"an epoch's copies", false, {}});
  const auto add = [&](const std::string& category, double bytes) {
    copies.points.push_back({static_cast<double>(chart.categories.size()), bytes / 1e6});
    chart.categories.push_back(category);
  };
  add("single batches", sampled_bytes(measured, measured.job.batch_size));
  for (const std::int64_t share : {12, 24}) {
    add("Joestar-I, 1/" + std::to_string(share), sampled_bytes(measured, (train + share - 1) / share));
  }
  for (const auto& series : measured.panel.series) {
    try {
      add(series.name, parts_bytes(measured, plan_of(series).macro));
    } catch (const base::InputError& error) {  // the graph has too few vertices for its parts
      chart.missing.push_back(series.name + ": " + error.what());
    }
  }
  return chart;
}

}  // namespace gnomon::reproduce
