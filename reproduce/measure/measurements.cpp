#include "reproduce/measure/measurements.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/document.h"
#include "base/error.h"
#include "base/stop.h"
#include "graph/epoch_order.h"
#include "graph/generate/generate.h"
#include "reproduce/measure/counted_epochs.h"
#include "reproduce/measure/measured_case.h"
#include "reproduce/measure/trainings.h"

namespace gnomon::reproduce {
namespace {

constexpr std::array<std::pair<std::string_view, MeasureCase>, 22> measurements{
    {{"hit_curves", counted_chart},
     {"hits_of_a_tenth", counted_chart},
     {"missed_bytes", counted_chart},
     {"overlap", counted_chart},
     {"batch_vertices", batch_vertices},
     {"batch_deviations", batch_deviations},
     {"vertices_by_hop", vertices_by_hop},
     {"edges_by_hop", edges_by_hop},
     {"hop_deviations", hop_deviations},
     {"layers", layers},
     {"moved_bytes", moved_bytes},
     {"accuracy_by_epoch", accuracy_by_epoch},
     {"accuracy_by_time", accuracy_by_time},
     {"test_accuracy", test_accuracy},
     {"staleness", staleness},
     {"accuracy_by_setting", accuracy_by_setting},
     {"staleness_by_setting", staleness_by_setting},
     {"copied_bytes", copied_bytes},
     {"vertices_read", vertices_read},
     {"resident_edges", resident_edges},
     {"partition_time", partition_time},
     {"random_cache_time", random_cache_time}}};

MeasureCase find_measurement(const std::string& name) {
  const auto* const found = std::find_if(measurements.begin(), measurements.end(),
                                         [&](const auto& known) { return known.first == name; });
  if (found == measurements.end()) {
    throw base::InputError("measure", "\"" + name + "\" is not a measurement");
  }
  return found->second;
}

/// The job with mini-batches small enough for this graph.
plan::Job job_on(const graph::Graph& graph, const MeasuredOn& on) {
  auto job = on.job;
  const auto max_size = std::max<std::int64_t>(1, std::ssize(graph.train) / on.min_batches);
  job.batch_size = static_cast<int>(std::min<std::int64_t>(job.batch_size, max_size));
  return job;
}

std::string description(const graph::Graph& graph, const plan::Job& job) {
  return graph.name + ": " + std::to_string(graph.num_vertices()) + " vertices, " +
         std::to_string(graph.num_edges()) + " edges, " + std::to_string(graph.train.size()) +
         " training vertices; " +
         std::to_string(graph::num_batches(std::ssize(graph.train), job.batch_size)) + " mini-batches of " +
         std::to_string(job.batch_size) + " an epoch, fanouts " + fanouts_text(job);
}

}  // namespace

std::string fanouts_text(const plan::Job& job) {
  std::string text;
  for (const int fanout : job.fanouts) {
    text += (text.empty() ? "" : ",") + std::to_string(fanout);
  }
  return text;
}

Measurements::Measurements(MeasurementOptions options)
    : options_(std::move(options)),
      counted_(std::make_unique<CountedEpochs>()),
      trainings_(std::make_unique<Trainings>()) {}

Measurements::~Measurements() = default;

const graph::Graph& Measurements::graph_of(const MeasuredOn& on) {
  if (options_.graph) {
    return *options_.graph;
  }
  const auto key =
      on.rmat ? base::write_value(*on.rmat).dump() : base::write_value(on.planted.value()).dump();
  const auto found = generated_.find(key);
  if (found != generated_.end()) {
    return found->second;
  }
  base::report(options_.progress, "generating a graph", 0, 0);
  auto graph = on.rmat ? graph::generate_in_memory(*on.rmat) : graph::generate_in_memory(on.planted.value());
  return generated_.emplace(key, std::move(graph)).first->second;
}

Chart Measurements::chart(const PanelSource& panel, const MeasuredOn& on) {
  const auto measure = find_measurement(panel.measure);
  const auto progress = base::stoppable(options_.progress, options_.stop);
  const auto& graph = graph_of(on);
  const auto job = job_on(graph, on);
  auto chart = measure({graph, job, panel, on.seeds, *counted_, *trainings_, progress, options_.stop});
  chart.measured_on = description(graph, job);
  return chart;
}

}  // namespace gnomon::reproduce
