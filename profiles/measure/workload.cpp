#include "profiles/measure/workload.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/cores.h"
#include "base/other_load.h"
#include "base/process_memory.h"
#include "base/usable.h"
#include "graph/partition/parts.h"
#include "graph/partition/quality.h"
#include "kernels/cpu/sample/topology.h"
#include "profiles/measure/accesses.h"
#include "profiles/measure/averaging.h"
#include "profiles/measure/biased_sampling.h"
#include "profiles/measure/contention.h"
#include "profiles/measure/device_facts.h"
#include "profiles/measure/disk.h"
#include "profiles/measure/disk_batch.h"
#include "profiles/measure/evaluation.h"
#include "profiles/measure/hot_batch.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/macro_batch.h"
#include "profiles/measure/one_hop.h"
#include "profiles/measure/refresh.h"
#include "profiles/measure/resident_batches.h"
#include "profiles/measure/rounds.h"
#include "profiles/measure/statistics.h"
#include "profiles/measure/thin_batches.h"
#include "profiles/stage_work.h"
#include "runtime/macro/parts_of_plan.h"
#include "runtime/placement.h"
#include "runtime/preparation/device_room.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;

/// Shares of the time limit. For the machine's bandwidths (each of the two):
constexpr double bandwidth_share = 0.04;
/// For cache hit curves:
constexpr double access_share = 0.05;
/// For the disk, if the graph is a store:
constexpr double disk_share = 0.05;
/// For biased sampling:
constexpr double bias_share = 0.02;
/// For stages with all data in device memory:
constexpr double resident_share = 0.05;
/// For mini-batches of a macro-batch, for those that reuse hot rows, for thinner ones, for counting those of
/// resident parts, and for the lists of a macro-batch with a halo:
constexpr double macro_share = 0.02;
constexpr double hot_share = 0.02;
constexpr double thin_share = 0.02;
constexpr double count_share = 0.01;
constexpr double halo_share = 0.01;
/// For mini-batches of one hop with historical embeddings:
constexpr double one_hop_share = 0.02;
/// For what caches of the disk take beside reading, if the graph is a store:
constexpr double disk_batch_share = 0.03;
/// For computing reused embeddings:
constexpr double refresh_share = 0.03;
/// For evaluating the model:
constexpr double evaluation_share = 0.05;
/// For the rounds:
constexpr double rounds_share = 1 - 2 * bandwidth_share - access_share - disk_share - bias_share -
                                resident_share - macro_share - hot_share - thin_share - count_share -
                                halo_share - one_hop_share - disk_batch_share - refresh_share -
                                evaluation_share;

void add_points(std::vector<ScalingPoint>& points, const std::map<int, Ratio>& ratios) {
  points.push_back({1, 1});
  for (const auto& [threads, ratio] : ratios) {
    if (const auto value = ratio.value()) {
      points.push_back({threads, *value});
    }
  }
}

/// The mean of a quantity over an epoch's mini-batches relative to a full mini-batch: only the last one may
/// be smaller. If its ratio was not measured, the ratio of the seeds is used.
class EpochMean {
 public:
  EpochMean(std::int64_t batches, std::optional<double> partial_share)
      : batches_(static_cast<double>(batches)), partial_share_(partial_share) {}

  double factor(const Ratio& partial) const {
    return partial_share_ ? (batches_ - 1 + partial.value().value_or(*partial_share_)) / batches_ : 1;
  }
  /// The same for a time, including the additional time of the first mini-batch.
  double factor(const Ratio& partial, const Ratio& first) const {
    return factor(partial) + (first.value().value_or(1) - 1) / batches_;
  }

 private:
  double batches_;
  std::optional<double> partial_share_;
};

StageTime scaled(StageTime time, double factor) {
  for (double StageTime::*part : {&StageTime::mean_s, &StageTime::deviation_s, &StageTime::p5_s,
                                  &StageTime::p50_s, &StageTime::p95_s, &StageTime::interval_s}) {
    time.*part *= factor;
  }
  return time;
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
  add_points(workload.worker_efficiency, measured.worker_efficiency);
  add_points(workload.device_batch_speedup, measured.device_batch_speedup);
  add_points(workload.cpu_batch_speedup, measured.cpu_batch_speedup);
  if (!measured.cpu_sample_speedup.empty()) {
    add_points(workload.cpu_sample_speedup, measured.cpu_sample_speedup);
  }
  add_points(workload.train_speedup, measured.train_speedup);
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

/// The sampling parts of cpu_batch and device_batch, where stages that only sample were measured.
void fill_sampling(WorkloadProfile& workload, const Measured& measured) {
  if (measured.cpu_sample.count() > 0) {
    workload.parts.cpu_sample_s = std::min(measured.cpu_sample.mean(), workload.cpu_batch.mean_s);
  }
  if (measured.device_sample.count() > 0) {
    workload.parts.device_sample_s = std::min(measured.device_sample.mean(), workload.device_batch.mean_s);
  }
}

/// What it takes to make lists of the edges that are sampled for a macro-batch. To be called after
/// fill_sampling().
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

/// What is faster in a macro-batch than in the graph. To be called after fill_sampling().
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

/// What `measure` returns, or nothing if the device has too little memory for it, and for plans that have
/// such mini-batches.
template <class Measure>
auto if_it_fits(const Measure& measure) -> decltype(measure()) {
  try {
    return measure();
  } catch (const runtime::OutOfDeviceMemory&) {
    return {};
  }
}

/// Measures special mini-batches of a small macro-batch, when the device's memory is free again.
void measure_small_graph(const graph::Graph& graph, const plan::Job& job, const MeasureOptions& options,
                         Profile& profile) {
  const auto within = [&](double share) { return AccessOptions{share * profile.time_limit_s, options.stop}; };
  auto& workload = profile.workload;
  if (plan::abilities_of(options.device.kind).macro_batches) {
    fill_macro_batch(workload, measure_macro_batch(graph, job, options.device, within(macro_share)));
  }
  workload.thin_batches =
      if_it_fits([&] { return measure_thin(graph, job, options.device, within(thin_share)); });
  workload.hot_batch = if_it_fits([&] { return measure_hot(graph, job, options.device, within(hot_share)); });
}

/// Whether a GPU's memory holds the graph and its features beside training and the mini-batches of a
/// pipeline.
bool fits(const graph::Graph& graph, const plan::Job& job, const runtime::DeviceFacts& facts,
          double batch_bytes) {
  constexpr double share = 0.9;  // of the remaining memory, because of fragmentation
  constexpr double batches_ahead = 3;
  const double data =
      static_cast<double>(graph.features.rows) * static_cast<double>(graph.features.row_bytes()) +
      static_cast<double>(kernels::cpu::resident_bytes(graph, runtime::draws_of(graph, job)));
  return data < share * (facts.memory_bytes - facts.peak_bytes - batches_ahead * batch_bytes);
}

/// Sets the parts of a GPU's preparation that read over the link: the difference to the preparation with all
/// data in device memory or, if the memory is too small for that, all of it.
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

/// Training's share of the device memory, given the peak use `peak_bytes`.
void fill_memory(WorkloadProfile& workload, double peak_bytes, double weight_bytes) {
  constexpr double copies_of_weights = 4;  // weights, gradients and Adam's two moments
  workload.parts.parameter_bytes = weight_bytes;
  workload.parts.activation_bytes =
      if_positive(peak_bytes - workload.batch_bytes - copies_of_weights * weight_bytes);
}

/// The time that devices on the host's cores spend on averaging gradients.
void fill_averaging(WorkloadProfile& workload, const AveragingTimes& times) {
  workload.parts.update_s = std::min(times.update_s, workload.train.mean_s);
  workload.parts.average_s = times.average_s;
}

/// Measures preparation with all data in device memory, if it fits. An emulated device is given more memory
/// for that, if the host has enough; otherwise caches tell it.
std::optional<Resident> measure_resident(Rounds& rounds, const graph::Graph& graph, const plan::Job& job,
                                         const MeasureOptions& options, const runtime::DeviceFacts& facts,
                                         double batch_bytes) {
  const double time_limit_s = resident_share * options.time_limit_s;
  if (fits(graph, job, facts, batch_bytes)) {
    return rounds.measure_resident(time_limit_s);
  }
  auto roomy_facts = facts;
  roomy_facts.memory_bytes = base::usable_memory_bytes() / 2;
  if (options.device.kind != DeviceKind::emulated || !fits(graph, job, roomy_facts, batch_bytes)) {
    return rounds.measure_cached(time_limit_s);
  }
  auto roomy = options.device;
  roomy.max_bytes = static_cast<std::int64_t>(roomy_facts.memory_bytes);
  return Rounds(graph, job, base::usable_cores(), roomy, options.stop).measure_resident(time_limit_s);
}

/// Warms up, then measures rounds until all stages have the requested precision. Returns the seconds that the
/// device's set-up took, which do not count.
double run_rounds(Rounds& rounds, Measured& measured, StopRule& rule, const Stopwatch& watch,
                  const MeasureOptions& options) {
  constexpr double warm_up_share = 0.25;
  double set_up_s = 0;  // a GPU takes seconds to load kernels, place the graph and pin memory
  const auto spent = [&](double share) { return watch.seconds() - set_up_s >= share * rule.time_limit_s; };
  const auto tell = [&](const char* what) {
    const double done_s = std::min(watch.seconds() - set_up_s, rule.time_limit_s);
    base::report(options.progress, what, static_cast<std::int64_t>(1e3 * done_s),
                 static_cast<std::int64_t>(1e3 * rule.time_limit_s));
  };
  tell("warming up");
  const double batch_s = rounds.warm_up([&] { return spent(warm_up_share); });
  if (!rounds.on_cores()) {
    set_up_s = watch.seconds();
  }
  if (options.worth_s) {
    const double worth_s = options.worth_s(batch_s * static_cast<double>(rounds.batches()));
    rule.time_limit_s = std::min(rule.time_limit_s, rounds_share * worth_s);
  }
  // A short measurement may lie entirely within a burst of other work.
  constexpr double least_share = 0.1;
  // After the time limit only the stages alone are measured, if there are too few samples to detect outliers.
  constexpr std::int64_t few_rounds = 3;
  do {
    tell("measuring");
    rounds.run(measured, [&] { return spent(1); });
  } while (!spent(least_share) || (!spent(1) && !measured.converged(rule)) ||
           (!spent(2) && measured.rounds < few_rounds));
  return set_up_s;
}

/// The process's memory without the graph: its anonymous memory at the start, and the pages of programs and
/// libraries mapped by now. Features and in-memory graphs are in unmapped memory.
double runtime_bytes(const graph::Graph& graph, const base::ProcessMemory& before) {
  const auto now = base::process_memory();
  std::int64_t graph_bytes = graph.features.bytes();
  if (graph.directory.empty()) {
    graph_bytes += static_cast<std::int64_t>(graph.indptr.size_bytes() + graph.indices.bytes().size());
  }
  const std::int64_t mapped = graph.directory.empty() ? 0 : base::mapped_bytes(graph.directory);
  return static_cast<double>(std::max<std::int64_t>(0, before.anonymous_bytes - graph_bytes) +
                             now.file_bytes - mapped);
}

}  // namespace

Profile measure(const graph::Graph& graph, const plan::Job& job, const MeasureOptions& options) {
  plan::check(job, "job");
  const Stopwatch watch;
  const auto memory_before = base::process_memory();
  const base::LoadMeter load;
  Profile profile;
  profile.asked_interval = options.asked_interval;
  profile.time_limit_s = options.time_limit_s;
  StopRule rule{.asked_interval = options.asked_interval, .time_limit_s = options.time_limit_s};

  Measured measured;
  std::optional<runtime::DeviceFacts> facts;
  std::optional<Resident> resident;
  std::optional<SmallMacroBatch> macro;
  std::optional<double> partial_share;
  double runtime = 0;
  double weight_bytes = 0;
  double peak_bytes = 0;
  rule.time_limit_s *= rounds_share;
  {
    Rounds rounds(graph, job, base::usable_cores(), options.device, options.stop);
    profile.workload = describe(graph, job, rounds.batches(), options.device);
    const double set_up_s = run_rounds(rounds, measured, rule, watch, options);
    profile.time_limit_s = rule.time_limit_s / rounds_share;
    partial_share = rounds.partial_share();
    runtime = runtime_bytes(graph, memory_before);
    if (rounds.has_link()) {
      weight_bytes = static_cast<double>(rounds.weight_bytes());
      peak_bytes = static_cast<double>(rounds.peak_bytes());
      facts = rounds.device().measure();
      resident = measure_resident(rounds, graph, job, options, *facts,
                                  static_cast<double>(measured.max_batch_bytes));
    }
    if (watch.seconds() - set_up_s < options.time_limit_s) {
      macro = small_macro_batch(rounds.placed(), job);
      profile.workload.parts.halo_entry_s =
          measure_halo_entry(graph, {halo_share * profile.time_limit_s, options.stop});
      fill_disk_batch(profile.workload,
                      measure_disk_batch(graph, rounds.placed(), job,
                                         {disk_batch_share * profile.time_limit_s, options.stop}));
    }
  }
  fill(profile.workload, measured, rule, {profile.workload.batches, partial_share});
  base::report(options.progress, "counting accesses", 0, 0);
  measure_accesses(graph, job, {access_share * profile.time_limit_s, options.stop}, profile.workload);
  fill_sampling(profile.workload, measured);
  if (macro) {
    fill_macro_load(profile.workload, *macro);
    measure_small_graph(macro->graph, job, options, profile);
  }
  profile.workload.work = batch_work(profile.workload);
  profile.workload.parts.biased_sample_ratio =
      measure_biased_sampling(graph, job, {bias_share * profile.time_limit_s, options.stop});
  fill_refresh(profile.workload,
               measure_refresh(graph, job, {refresh_share * profile.time_limit_s, options.stop}));
  fill_one_hop(profile.workload, if_it_fits([&] {
                 return measure_one_hop(graph, job, options.device,
                                        {one_hop_share * profile.time_limit_s, options.stop});
               }));
  profile.workload.resident_batches =
      count_resident(graph, job, {count_share * profile.time_limit_s, options.stop});
  base::report(options.progress, "measuring evaluation", 0, 0);
  profile.workload.evaluation =
      measure_evaluation(graph, job, options.device, {evaluation_share * profile.time_limit_s, options.stop});

  bool converged = measured.converged(rule);
  rule.time_limit_s = profile.time_limit_s * bandwidth_share;
  profile.machine = measure_machine({.rule = rule,
                                     .copy_bytes = static_cast<std::size_t>(profile.workload.batch_bytes),
                                     .stop = options.stop,
                                     .progress = options.progress},
                                    converged);
  profile.machine.cpu.runtime_bytes = if_positive(runtime);
  if (facts) {
    fill_device(profile.machine, *facts, options.device);
    fill_memory(profile.workload, peak_bytes > 0 ? peak_bytes : facts->peak_bytes, weight_bytes);
    fill_link_parts(profile.workload, resident);
  }
  if (options.device.kind == DeviceKind::emulated && options.device.devices > 1) {
    fill_averaging(profile.workload,
                   measure_averaging(job, graph.features.columns, graph.num_classes, rule.time_limit_s));
  }
  if (!graph.directory.empty()) {
    const auto* const file = graph.features.is_sparse() ? "features_columns.npy" : "features.npy";
    profile.machine.disk =
        measure_disk(graph.directory / file, disk_share * profile.time_limit_s, options.stop);
  }
  const auto hardware = base::allowed_cores();
  profile.machine.cpu.physical_cores = if_positive(base::physical_cores(hardware));
  profile.machine.cpu.node_cores = base::cores_of_nodes(hardware);
  profile.machine.contention = contention_of(measured, profile.workload.worker_efficiency,
                                             profile.machine.cpu.cores, options.device.kind);
  if (resident) {
    profile.machine.contention.train_beside_resident_batch = clamped(resident->train_slowdown);
  }
  profile.other_load = load.load();
  profile.stopped_by = converged ? "interval" : "time_limit";
  return profile;
}

}  // namespace gnomon::profiles
