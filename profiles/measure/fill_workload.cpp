#include "profiles/measure/fill_workload.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "graph/partition/parts.h"
#include "graph/partition/quality.h"
#include "profiles/measure/device_facts.h"
#include "runtime/macro/parts_of_plan.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

/// `most` is the value of one thread for each thread. More than that was measured beside a burst of other
/// work.
void set_points(std::vector<ScalingPoint>& points, const std::map<int, Ratio>& ratios,
                double (*most)(int threads)) {
  constexpr double by_caches = 1.1;
  points = {{1, 1}};
  for (const auto& [threads, ratio] : ratios) {
    if (const auto value = ratio.value()) {
      points.push_back({threads, std::min(*value, by_caches * most(threads))});
    }
  }
}

double linear(int threads) { return threads; }
double equal(int /*threads*/) { return 1; }

StageTime scaled(StageTime time, double factor) {
  for (double StageTime::*part : {&StageTime::mean_s, &StageTime::deviation_s, &StageTime::p5_s,
                                  &StageTime::p50_s, &StageTime::p95_s, &StageTime::interval_s}) {
    time.*part *= factor;
  }
  return time;
}

/// Bytes of a feature row in the device's form; the mean for sparse rows.
std::int64_t feature_row_bytes(const graph::Features& features, const runtime::DeviceOptions& device) {
  const bool is_sparse = features.is_sparse() && runtime::takes_sparse_features(device);
  return is_sparse && features.rows > 0 ? (features.bytes() + features.rows - 1) / features.rows
                                        : features.row_bytes();
}

std::optional<StoreParts> store_parts(const graph::Graph& graph) {
  if (!graph.parts) {
    return std::nullopt;
  }
  auto sizes = graph::part_sizes(graph);
  return StoreParts{runtime::partitioner_of(graph.parts->request.method), std::move(sizes.vertices),
                    std::move(sizes.edges), std::move(sizes.train)};
}

}  // namespace

WorkloadProfile describe(const graph::Graph& graph, const plan::Job& job, std::int64_t batches,
                         const runtime::DeviceOptions& device) {
  WorkloadProfile workload;
  workload.graph = graph.name;
  workload.vertices = graph.num_vertices();
  workload.edges = graph.num_edges();
  workload.max_degree = graph.max_degree();
  workload.feature_columns = graph.features.columns;
  workload.feature_row_bytes = feature_row_bytes(graph.features, device);
  workload.train_vertices = static_cast<std::int64_t>(graph.train.size());
  workload.job = job;
  workload.batches = batches;
  workload.store_parts = store_parts(graph);
  return workload;
}

void fill(WorkloadProfile& workload, const Measured& measured, const StopRule& rule, const EpochMean& mean) {
  const auto stage_time = [&](Stage stage) {
    const Series& series = measured.of(stage);
    if (series.count() == 0) {
      return StageTime{.converged = true};
    }
    StageTime time = series.stage_time(rule.converged(series));
    time.mean_s = series.median_of_means(workload.batches);
    const auto number = static_cast<std::size_t>(stage);
    return scaled(time, mean.factor(measured.partial[number], measured.first[number]));
  };
  workload.cpu_batch = stage_time(Stage::cpu_batch);
  workload.transfer = stage_time(Stage::transfer);
  workload.device_batch = stage_time(Stage::device_batch);
  workload.train = stage_time(Stage::train);
  workload.parts.max_batch_bytes = static_cast<double>(measured.max_batch_bytes);
  if (measured.training_bytes > 0) {
    workload.parts.activation_bytes = static_cast<double>(measured.training_bytes);
  }
  if (const auto ratio = measured.structure_transfer.value()) {
    workload.parts.structure_transfer_ratio = std::min(1.0, *ratio);
  }
  workload.parts.fused_train_ratio = measured.fused_train.value();
  workload.parts.graphs_train_ratio = measured.graphs_train.value();
  workload.parts.prepare_share_ratio = measured.prepare_share.value();
  workload.batch_vertices = measured.vertices.mean() * mean.factor(measured.partial_vertices);
  workload.batch_edges = measured.edges.mean() * mean.factor(measured.partial_edges);
  workload.batch_bytes = measured.bytes.mean() * mean.factor(measured.partial_bytes);
  if (measured.vertices.count() > 1) {
    workload.batch_deviations = {measured.vertices.deviation(), measured.edges.deviation(),
                                 measured.bytes.deviation()};
  }
  set_points(workload.worker_efficiency, measured.worker_efficiency, equal);
  set_points(workload.device_batch_speedup, measured.device_batch_speedup, linear);
  set_points(workload.cpu_batch_speedup, measured.cpu_batch_speedup, linear);
  if (!measured.cpu_sample_speedup.empty()) {
    set_points(workload.cpu_sample_speedup, measured.cpu_sample_speedup, linear);
  }
  set_points(workload.train_speedup, measured.train_speedup, linear);
}

void fill_sampling(WorkloadProfile& workload, const Measured& measured) {
  auto& parts = workload.parts;
  if (measured.cpu_sample.count() > 0) {
    parts.cpu_sample_s = measured.cpu_sample.mean();
  }
  if (measured.device_sample.count() > 0) {
    parts.device_sample_s = measured.device_sample.mean();
  }
  // Parts that were counted before the last rounds may exceed the whole.
  const auto limit = [](std::optional<double>& part_s, const StageTime& whole) {
    if (part_s) {
      part_s = std::min(*part_s, whole.mean_s);
    }
  };
  limit(parts.cpu_sample_s, workload.cpu_batch);
  limit(parts.device_sample_s, workload.device_batch);
}

void fill_macro_load(WorkloadProfile& workload, const SmallMacroBatch& macro) {
  const auto batches = static_cast<double>(macro.batches);
  const auto vertices = static_cast<double>(macro.graph.num_vertices());
  const double edges = batches * workload.batch_edges;
  if (edges <= 0 || workload.batch_vertices <= 0) {
    return;
  }
  const double sample_s = workload.parts.cpu_sample_s.value_or(0);
  const double row_s = (workload.cpu_batch.mean_s - sample_s) / workload.batch_vertices;
  workload.parts.macro_edge_s = std::max(0.0, macro.load_s - batches * sample_s - vertices * row_s) / edges;
}

void fill_macro_batch(WorkloadProfile& workload, const MacroBatchTimes& times) {
  const double sample_s = workload.parts.device_sample_s.value_or(0);
  if (sample_s > 0 && workload.train.mean_s > 0) {
    workload.parts.macro_sample_ratio = times.sample_s / sample_s;
    workload.parts.macro_train_ratio = times.train_s / workload.train.mean_s;
  }
}

void fill_disk_batch(WorkloadProfile& workload, const DiskBatchTimes& times) {
  workload.parts.disk_rows_s = times.rows_s;
  workload.parts.disk_lists_s = times.lists_s;
  workload.parts.cache_choices_s = times.choices_s;
}

void fill_one_hop(WorkloadProfile& workload, const std::optional<OneHopTimes>& times) {
  if (times && workload.cpu_batch.mean_s > 0 && workload.train.mean_s > 0) {
    workload.parts.one_hop_batch_ratio = times->cpu_batch_s / workload.cpu_batch.mean_s;
    workload.parts.one_hop_train_ratio = times->train_s / workload.train.mean_s;
  }
}

void fill_refresh(WorkloadProfile& workload, const std::optional<RefreshTimes>& times) {
  if (times) {
    workload.parts.find_hot_s = times->find_s;
    workload.parts.refresh_s = times->compute_s;
  }
}

void fill_link_parts(WorkloadProfile& workload, const std::optional<Resident>& resident) {
  const double sample_s = workload.parts.device_sample_s.value_or(workload.device_batch.mean_s);
  workload.device_batch_link_s = workload.device_batch.mean_s;
  workload.parts.device_sample_link_s = sample_s;
  if (resident) {
    workload.device_batch_link_s = std::max(0.0, workload.device_batch.mean_s - resident->device_batch_s);
    workload.parts.device_sample_link_s = std::clamp(sample_s - resident->device_sample_s, 0.0,
                                                     std::min(sample_s, workload.device_batch_link_s));
    if (resident->train_s && workload.train.mean_s > 0) {
      workload.parts.resident_train_ratio = *resident->train_s / workload.train.mean_s;
    }
  }
}

void fill_memory(WorkloadProfile& workload, double peak_bytes, double weight_bytes) {
  constexpr double copies_of_weights = 4;  // weights, gradients and Adam's two moments
  workload.parts.parameter_bytes = weight_bytes;
  workload.parts.activation_bytes =
      if_positive(peak_bytes - workload.batch_bytes - copies_of_weights * weight_bytes);
}

void fill_averaging(WorkloadProfile& workload, const AveragingTimes& times) {
  workload.parts.update_s = std::min(times.update_s, workload.train.mean_s);
  workload.parts.average_s = times.average_s;
}

}  // namespace gnomon::profiles
