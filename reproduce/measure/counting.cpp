#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include "base/error.h"
#include "profiles/measure/accesses.h"
#include "profiles/measure/statistics.h"
#include "reproduce/figures/counts_chart.h"
#include "reproduce/measure/counted_epochs.h"
#include "reproduce/measure/measured_case.h"

/// Measurements of two sampled epochs.
namespace gnomon::reproduce {
namespace {

using profiles::BatchCounts;

const profiles::SampledEpochs& epochs_of(const MeasuredCase& measured) {
  return measured.counted.of(measured.graph, measured.job, measured.progress, measured.stop);
}

/// The values of all mini-batches.
profiles::Series series_of(const std::vector<BatchCounts>& batches,
                           const std::function<double(const BatchCounts&)>& value) {
  profiles::Series series;
  for (const auto& batch : batches) {
    series.add(value(batch));
  }
  return series;
}

std::vector<BatchCounts> full_batches(const MeasuredCase& measured) {
  auto batches = epochs_of(measured).full_batches(measured.job);
  if (batches.size() < 2) {
    throw base::InputError(measured.graph.name, "has too few training vertices for two full mini-batches");
  }
  return batches;
}

/// Adds the chart of one way of sampling as a category.
void add_category(Chart& chart, const std::string& category, const Chart& other) {
  const auto x = static_cast<double>(chart.categories.size());
  chart.categories.push_back(category);
  for (const auto& series : other.series) {
    auto found = std::find_if(chart.series.begin(), chart.series.end(),
                              [&](const ChartSeries& known) { return known.name == series.name; });
    if (found == chart.series.end()) {
      found = chart.series.insert(found, {series.name, false, {}});
    }
    found->points.push_back({x, series.points.front().y});
  }
}

Chart counted(const MeasuredCase& measured, const graph::Graph& graph, const plan::Job& job) {
  const auto& epochs = measured.counted.of(graph, job, measured.progress, measured.stop);
  return counts_chart(measured.panel.measure, counted_workload(graph, job, epochs)).value();
}

/// The job's fanouts, the first two of them, and all of them by edge weight.
Chart by_sampling(const MeasuredCase& measured) {
  Chart chart;
  auto job = measured.job;
  add_category(chart, fanouts_text(job), counted(measured, measured.graph, job));
  if (job.layers() > 2) {
    job.fanouts.resize(2);
    add_category(chart, fanouts_text(job), counted(measured, measured.graph, job));
    job = measured.job;
  }
  job.weighted = true;
  const bool has_weights = !measured.graph.edge_weights.empty();
  add_category(chart, fanouts_text(job) + (has_weights ? " by weight" : " by random weights"),
               counted(measured, with_edge_weights(measured.graph, job.seed), job));
  chart.missing.emplace_back("random walks: gnomon has no sampler of them");
  return chart;
}

ChartSeries over_batches(const MeasuredCase& measured, std::size_t hop,
                         std::int64_t BatchCounts::Hop::*count) {
  ChartSeries series{"hop " + std::to_string(hop + 1), false, {}};
  for (const auto& batch : epochs_of(measured).first.batches) {
    const auto number = static_cast<double>(series.points.size() + 1);
    series.points.push_back({number, static_cast<double>(batch.hops[hop].*count)});
  }
  return series;
}

Chart hops_chart(const MeasuredCase& measured, std::int64_t BatchCounts::Hop::*count) {
  Chart chart;
  for (std::size_t hop = 0; hop < measured.job.fanouts.size(); ++hop) {
    chart.series.push_back(over_batches(measured, hop, count));
  }
  return chart;
}

double percent_deviation(const profiles::Series& series) {
  return series.mean() > 0 ? 100 * series.deviation() / series.mean() : 0;
}

/// The number of vertices whose features or embeddings each layer reads, the outermost layer first.
std::vector<profiles::Series> layer_vertices(const MeasuredCase& measured) {
  const auto batches = full_batches(measured);
  std::vector<profiles::Series> layers;
  layers.push_back(
      series_of(batches, [](const BatchCounts& batch) { return static_cast<double>(batch.vertices); }));
  for (std::size_t hop = measured.job.fanouts.size(); hop-- > 0;) {
    layers.push_back(series_of(batches, [hop](const BatchCounts& batch) {
      return static_cast<double>(batch.hops[hop].destinations);
    }));
  }
  return layers;
}

}  // namespace

Chart counted_chart(const MeasuredCase& measured) {
  const auto& name = measured.panel.measure;
  return name == "hits_of_a_tenth" || name == "overlap" ? by_sampling(measured)
                                                        : counted(measured, measured.graph, measured.job);
}

Chart batch_vertices(const MeasuredCase& measured) {
  const auto batches = full_batches(measured);
  const auto vertices =
      series_of(batches, [](const BatchCounts& batch) { return static_cast<double>(batch.vertices); });
  const auto [min, max] = std::minmax_element(vertices.samples().begin(), vertices.samples().end());
  constexpr int bins = 12;
  const double width = std::max(1.0, std::ceil((*max - *min + 1) / bins));
  Chart chart;
  auto& series = chart.series.emplace_back(ChartSeries{"mini-batches", false, {}});
  for (int bin = 0; bin < bins; ++bin) {
    series.points.push_back({*min + (bin + 0.5) * width, 0});
  }
  for (const double sample : vertices.samples()) {
    series.points[static_cast<std::size_t>((sample - *min) / width)].y +=
        100.0 / static_cast<double>(batches.size());
  }
  return chart;
}

Chart batch_deviations(const MeasuredCase& measured) {
  const auto batches = full_batches(measured);
  Chart chart;
  chart.categories = {"vertices", "edges", "bytes"};
  const std::vector<std::function<double(const BatchCounts&)>> values{
      [](const BatchCounts& batch) { return static_cast<double>(batch.vertices); },
      [](const BatchCounts& batch) { return static_cast<double>(batch.edges()); },
      [&](const BatchCounts& batch) { return batch_bytes(measured.graph, batch); }};
  auto& series = chart.series.emplace_back(ChartSeries{"mini-batches", false, {}});
  for (const auto& value : values) {
    series.points.push_back(
        {static_cast<double>(series.points.size()), percent_deviation(series_of(batches, value))});
  }
  return chart;
}

Chart vertices_by_hop(const MeasuredCase& measured) {
  auto chart = hops_chart(measured, &BatchCounts::Hop::destinations);
  // The vertices that the last hop adds draw no neighbours.
  ChartSeries all{"all vertices", false, {}};
  for (const auto& batch : epochs_of(measured).first.batches) {
    all.points.push_back({static_cast<double>(all.points.size() + 1), static_cast<double>(batch.vertices)});
  }
  chart.series.push_back(std::move(all));
  return chart;
}

Chart edges_by_hop(const MeasuredCase& measured) { return hops_chart(measured, &BatchCounts::Hop::edges); }

Chart hop_deviations(const MeasuredCase& measured) {
  const auto batches = full_batches(measured);
  Chart chart;
  chart.series = {{"vertices whose neighbours are drawn", false, {}}, {"edges", false, {}}};
  for (std::size_t hop = 0; hop < measured.job.fanouts.size(); ++hop) {
    const auto x = static_cast<double>(hop);
    chart.categories.push_back("hop " + std::to_string(hop + 1));
    chart.series[0].points.push_back(
        {x, percent_deviation(series_of(batches, [hop](const BatchCounts& batch) {
           return static_cast<double>(batch.hops[hop].destinations);
         }))});
    chart.series[1].points.push_back(
        {x, percent_deviation(series_of(batches, [hop](const BatchCounts& batch) {
           return static_cast<double>(batch.hops[hop].edges);
         }))});
  }
  return chart;
}

Chart layers(const MeasuredCase& measured) {
  Chart chart;
  auto& series = chart.series.emplace_back(ChartSeries{"vertices", false, {}});
  const auto all = layer_vertices(measured);
  for (std::size_t layer = 0; layer < all.size(); ++layer) {
    chart.categories.push_back(layer == 0                ? "outermost"
                               : layer + 1 == all.size() ? "training vertices"
                               : all.size() == 3         ? "middle"
                                                         : "middle " + std::to_string(layer));
    series.points.push_back({static_cast<double>(layer), all[layer].mean(), all[layer].deviation()});
  }
  return chart;
}

Chart moved_bytes(const MeasuredCase& measured) {
  const auto all = layer_vertices(measured);
  const auto batches = static_cast<double>(epochs_of(measured).first.batches.size());
  const auto row_bytes = static_cast<double>(measured.graph.features.row_bytes());
  const double embedding_bytes = 4.0 * measured.job.hidden;
  Chart chart;
  chart.categories = {"all layers on the device", "the first layer on the host"};
  chart.series = {{"an epoch's copies",
                   false,
                   {{0, batches * all[0].mean() * row_bytes / 1e6},
                    {1, batches * all[1].mean() * embedding_bytes / 1e6}}}};
  return chart;
}

}  // namespace gnomon::reproduce
