#include "profiles/measure/workload.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/cores.h"
#include "base/usable.h"
#include "profiles/measure/accesses.h"
#include "profiles/measure/bench.h"
#include "profiles/measure/disk.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/slowdown.h"
#include "profiles/measure/statistics.h"

namespace gnomon::profiles {
namespace {

using schedule::Stage;
using schedule::StageSpan;

/// Mini-batches of one kind in a round: few, so that there are many rounds and all times of one round belong
/// to one moment of the machine.
constexpr std::int64_t chunk = 2;
constexpr std::int64_t least_rounds = 3;
/// The share of the time limit for the machine's bandwidths (each of the two).
constexpr double bandwidth_share = 0.04;
/// For what caches would answer.
constexpr double access_share = 0.05;
/// For the disk, of graphs that lie on one.
constexpr double disk_share = 0.05;

double seconds(const StageSpan& span) { return span.end_s - span.begin_s; }

/// 1, 2, 4, … and `most` itself.
std::vector<int> doubling(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) {
    counts.push_back(count);
  }
  counts.push_back(most);
  return counts;
}

/// A quotient of times, one value a round. The middle one counts: other programs' bursts spoil single rounds.
class Ratio {
 public:
  void add(double value) { values_.push_back(value); }
  bool known() const { return !values_.empty(); }
  double value() const { return known() ? median(values_) : 1; }

 private:
  std::vector<double> values_;
};

/// All that the rounds have measured.
struct Measured {
  std::array<Series, schedule::num_basic_stages> alone;
  Series vertices, edges, bytes;
  Ratio cpu_batch_beside_train, train_beside_cpu_batch;
  Ratio cpu_batch_beside_device_batch, device_batch_beside_cpu_batch;
  Ratio transfer_beside_train, train_beside_transfer;
  Ratio cpu_batch_beside_transfer, transfer_beside_cpu_batch;
  Ratio transfer_beside_device_batch, device_batch_beside_transfer;
  Ratio team_beside_cpu_batch, cpu_batch_beside_team;  ///< training on all cores, and a worker beside it
  Ratio train_beside_device_batch, device_batch_beside_train;  ///< of a GPU that prepares beside training
  Series device_sample;                                        ///< device_batch without gathering
  Ratio fused_train;                                           ///< on stored features over on gathered ones
  std::map<int, Ratio> worker_efficiency;  ///< by number of workers: time alone over time together
  std::map<int, Ratio> cpu_batch_speedup;  ///< by number of threads that share a batch
  std::map<int, Ratio> train_speedup;      ///< by number of threads: time with one over time with all
  std::map<int, Ratio> device_batch_speedup;
  std::int64_t rounds = 0;

  Series& of(Stage stage) { return alone[static_cast<std::size_t>(stage)]; }
  const Series& of(Stage stage) const { return alone[static_cast<std::size_t>(stage)]; }
  bool converged(const StopRule& rule) const {
    return rounds >= least_rounds && std::all_of(alone.begin(), alone.end(), [&](const Series& series) {
             return series.count() == 0 || rule.converged(series);
           });
  }
};

/// A GPU's preparation without the link.
struct Resident {
  double device_batch_s = 0;
  double device_sample_s = 0;
};

/// Runs rounds of measurements; see measure().
class Rounds {
 public:
  Rounds(const graph::Graph& graph, const plan::Job& job, int cores, const runtime::DeviceOptions& device,
         const std::atomic<bool>* stop)
      : cores_(cores), stop_(stop), bench_(graph, job, 1, device) {
    for (const int count : doubling(cores)) {
      if (count > 1) {
        benches_.emplace(count, std::make_unique<Bench>(graph, job, count));
      }
    }
  }

  /// Adds one round to `measured`; `out_of_time` is asked before each part after the first.
  void run(Measured& measured, const std::function<bool()>& out_of_time) {
    const std::int64_t epoch = round_++;
    measure_alone(measured, epoch);
    if (!out_of_time()) {
      measure_fused(measured, epoch);
    }
    if (cores_ > 1 && !out_of_time()) {
      measure_side_by_side(measured, epoch);
    }
    for (const auto& [count, bench] : benches_) {
      if (!out_of_time()) {
        measure_workers(measured, epoch, *bench, count);
      }
      if (!out_of_time() && !has_link()) {
        measure_threads(measured, epoch, count);
      }
      if (!out_of_time()) {
        measure_sharing(measured, epoch, count);
      }
    }
    ++measured.rounds;
  }

  /// What a GPU takes to prepare and only to sample mini-batches with all data in its own memory. To be
  /// called last, where its memory suffices.
  Resident measure_resident() {
    constexpr std::int64_t batches = 8;
    bench_.hold_data(plan::Home::device);
    const auto prepare_s = [&](bool fused) {
      bench_.fuse(fused);
      bench_.begin(round_, next_batches(2 * batches));
      (void)mean_s(Stage::device_batch, 0, batches);  // warms up
      return mean_s(Stage::device_batch, batches, batches);
    };
    Resident resident;
    resident.device_batch_s = prepare_s(false);
    resident.device_sample_s = prepare_s(true);
    return resident;
  }

  std::int64_t batches() const { return bench_.batches(); }
  runtime::Device& device() const { return bench_.device(); }
  bool has_link() const { return device().has_link(); }

 private:
  std::vector<std::int64_t> next_batches(std::int64_t count) {
    std::vector<std::int64_t> batches(static_cast<std::size_t>(count));
    for (auto& batch : batches) {
      batch = next_batch_++ % bench_.batches();
    }
    return batches;
  }

  double alone(Bench& bench, Stage stage, std::int64_t position) const {
    throw_if_stopped(stop_);
    return seconds(bench.alone(stage, position));
  }

  /// Of `count` positions from `first` on, one after the other.
  double mean_s(Stage stage, std::int64_t first, std::int64_t count) {
    double sum_s = 0;
    for (std::int64_t i = first; i < first + count; ++i) {
      sum_s += alone(bench_, stage, i);
    }
    return sum_s / static_cast<double>(count);
  }

  void count_batch(Measured& measured, std::int64_t position) const {
    const auto size = bench_.device_slot_size(position);
    measured.vertices.add(static_cast<double>(size.vertices));
    measured.edges.add(static_cast<double>(size.edges));
    measured.bytes.add(static_cast<double>(size.bytes));
  }

  /// The first half of the mini-batches takes the CPU's route, the second the device's. Their mean times stay
  /// in alone_s_ for the quotients of this round, which are of other mini-batches: one that comes again finds
  /// a part of its data in the caches.
  void measure_alone(Measured& measured, std::int64_t epoch) {
    bench_.begin(epoch, next_batches(2 * chunk));
    alone_s_.fill(0);
    const auto add = [&](Stage stage, std::int64_t position) {
      const double time_s = alone(bench_, stage, position);
      measured.of(stage).add(time_s);
      alone_s_[static_cast<std::size_t>(stage)] += time_s / (stage == Stage::train ? 2 * chunk : chunk);
    };
    for (std::int64_t i = 0; i < chunk; ++i) {
      add(Stage::cpu_batch, i);
      if (has_link()) {
        add(Stage::transfer, i);
      } else {
        alone(bench_, Stage::transfer, i);  // takes no time: a host device takes the batch as it lies
      }
      count_batch(measured, i);
      add(Stage::train, i);
      add(Stage::device_batch, chunk + i);
      count_batch(measured, chunk + i);
      add(Stage::train, chunk + i);
    }
  }

  /// Training that reads features where they are stored; samples come by the device's route.
  void measure_fused(Measured& measured, std::int64_t epoch) {
    bench_.fuse(true);
    bench_.begin(epoch, next_batches(chunk));
    for (std::int64_t i = 0; i < chunk; ++i) {
      measured.device_sample.add(alone(bench_, Stage::device_batch, i));
    }
    measured.fused_train.add(mean_s(Stage::train, 0, chunk) / alone_s(Stage::train));
    bench_.fuse(false);
  }

  /// Every two stages that a machine can run at once. Beside a training run twice as many of the shorter
  /// stages, for what they take from it shows as far as they overlap.
  void measure_side_by_side(Measured& measured, std::int64_t epoch) {
    const std::int64_t on_device = 0;
    const std::int64_t on_device_again = chunk;
    const std::int64_t on_cpu = 2 * chunk;
    const std::int64_t on_cpu_again = 3 * chunk;
    const std::int64_t on_cpu_twice = 4 * chunk;
    bench_.begin(epoch, next_batches(6 * chunk));
    side_by_side({{Stage::cpu_batch, on_cpu, chunk}, measured.cpu_batch_beside_device_batch},
                 {{Stage::device_batch, on_device, chunk}, measured.device_batch_beside_cpu_batch});
    side_by_side({{Stage::cpu_batch, on_cpu_twice, 2 * chunk}, measured.cpu_batch_beside_train},
                 {{Stage::train, on_device, chunk}, measured.train_beside_cpu_batch});
    if (!has_link()) {
      return;
    }
    side_by_side({{Stage::cpu_batch, on_cpu_again, chunk}, measured.cpu_batch_beside_transfer},
                 {{Stage::transfer, on_cpu, chunk}, measured.transfer_beside_cpu_batch});
    side_by_side({{Stage::transfer, on_cpu_again, chunk}, measured.transfer_beside_device_batch},
                 {{Stage::device_batch, on_device_again, chunk}, measured.device_batch_beside_transfer});
    side_by_side({{Stage::transfer, on_cpu_twice, 2 * chunk}, measured.transfer_beside_train},
                 {{Stage::train, on_device_again, chunk}, measured.train_beside_transfer});
    measure_aside(measured, epoch);
  }

  /// A GPU that prepares beside training, each on a half of its multiprocessors; that training has only its
  /// half is no slowdown by contention.
  void measure_aside(Measured& measured, std::int64_t epoch) {
    constexpr double share = 0.5;
    bench_.prepare_aside(share);
    bench_.begin(epoch, next_batches(4 * chunk));
    const double prepare_s = mean_s(Stage::device_batch, 0, 2 * chunk);
    Ratio training;
    side_by_side({{Stage::device_batch, 2 * chunk, 2 * chunk}, measured.device_batch_beside_train, prepare_s},
                 {{Stage::train, 0, 2 * chunk}, training});
    measured.train_beside_device_batch.add(training.value() * (1 - share));
    bench_.prepare_aside(0);
  }

  /// One of two that run at once, and what that slows it down by.
  struct Neighbour {
    Bench::Work work;
    Ratio& slowdown;
    double alone_s = 0;  ///< 0: what one thread took in this round
  };

  void side_by_side(const Neighbour& first, const Neighbour& second) {
    throw_if_stopped(stop_);
    const auto spans = bench_.together(std::array{first.work, second.work});
    const auto add = [&](const Neighbour& neighbour, const auto& own, const auto& beside) {
      const double usual_s = neighbour.alone_s > 0 ? neighbour.alone_s : alone_s(neighbour.work.stage);
      Slowdown slowdown;
      for (const StageSpan& span : own) {
        slowdown.add(usual_s, span, beside);
      }
      neighbour.slowdown.add(slowdown.value());
    };
    add(first, spans[0], spans[1]);
    add(second, spans[1], spans[0]);
  }

  double alone_s(Stage stage) const { return alone_s_[static_cast<std::size_t>(stage)]; }

  /// All workers start a mini-batch at once and another one after it; only the first ones count, the last
  /// would find other workers idle.
  void measure_workers(Measured& measured, std::int64_t epoch, Bench& bench, int workers) {
    throw_if_stopped(stop_);
    bench.begin(epoch, next_batches(2 * workers));
    const auto spans = bench.together(std::array{Bench::Work{Stage::cpu_batch, 0, 2 * workers}}).front();
    double together_s = 0;
    for (int i = 0; i < workers; ++i) {
      together_s += seconds(spans[static_cast<std::size_t>(i)]) / workers;
    }
    measured.worker_efficiency[workers].add(alone_s(Stage::cpu_batch) / together_s);
  }

  /// A host device that prepares and trains on so many threads; the first batch warms the threads' memory up.
  /// With a thread on each core, training then also beside a worker.
  void measure_threads(Measured& measured, std::int64_t epoch, int threads) {
    const std::int64_t beside = chunk + 1;
    const std::int64_t on_cpu = beside + chunk;
    bench_.use_device_threads(threads);
    bench_.begin(epoch, next_batches(on_cpu + 2 * chunk));
    alone(bench_, Stage::device_batch, 0);
    const double prepare_s = mean_s(Stage::device_batch, 1, on_cpu - 1);
    alone(bench_, Stage::train, 0);
    const double train_s = mean_s(Stage::train, 1, chunk);
    measured.device_batch_speedup[threads].add(alone_s(Stage::device_batch) / prepare_s);
    measured.train_speedup[threads].add(alone_s(Stage::train) / train_s);
    if (threads == cores_) {
      side_by_side({{Stage::cpu_batch, on_cpu, 2 * chunk}, measured.cpu_batch_beside_team},
                   {{Stage::train, beside, chunk}, measured.team_beside_cpu_batch, train_s});
    }
    bench_.use_device_threads(1);
  }

  /// Mini-batches that so many threads share, one after the other; the first warms the threads' memory up.
  void measure_sharing(Measured& measured, std::int64_t epoch, int threads) {
    bench_.share_batches(threads);
    bench_.begin(epoch, next_batches(chunk + 1));
    alone(bench_, Stage::cpu_batch, 0);
    const double cpu_batch_s = mean_s(Stage::cpu_batch, 1, chunk);
    bench_.share_batches(1);
    measured.cpu_batch_speedup[threads].add(alone_s(Stage::cpu_batch) / cpu_batch_s);
  }

  int cores_;
  const std::atomic<bool>* stop_;
  std::int64_t next_batch_ = 0;
  std::int64_t round_ = 0;
  std::array<double, schedule::num_basic_stages> alone_s_{};  ///< means of this round
  Bench bench_;
  std::map<int, std::unique_ptr<Bench>> benches_;  ///< with so many workers
};

void add_points(std::vector<ScalingPoint>& points, const std::map<int, Ratio>& ratios) {
  points.push_back({1, 1});
  for (const auto& [threads, ratio] : ratios) {
    points.push_back({threads, ratio.value()});
  }
}

/// `slowdowns` is what a stage takes longer when one thread more runs than there are cores. All of it but a
/// fair share and what the neighbour costs anyway.
double beyond_fair_share(const Ratio& slowdowns, double beside, int cores) {
  const double fair = static_cast<double>(cores + 1) / cores;
  return std::clamp(slowdowns.value() / (fair * beside), 0.5, 100.0);
}

void fill(Contention& contention, const Measured& measured, int cores) {
  contention.cpu_batch_beside_train = measured.cpu_batch_beside_train.value();
  contention.cpu_batch_beside_device_batch = measured.cpu_batch_beside_device_batch.value();
  contention.train_beside_cpu_batch = measured.train_beside_cpu_batch.value();
  contention.device_batch_beside_cpu_batch = measured.device_batch_beside_cpu_batch.value();
  contention.transfer_beside_train = measured.transfer_beside_train.value();
  contention.train_beside_transfer = measured.train_beside_transfer.value();
  contention.cpu_batch_beside_transfer = measured.cpu_batch_beside_transfer.value();
  contention.transfer_beside_cpu_batch = measured.transfer_beside_cpu_batch.value();
  contention.transfer_beside_device_batch = measured.transfer_beside_device_batch.value();
  contention.device_batch_beside_transfer = measured.device_batch_beside_transfer.value();
  contention.device_batch_beside_train = std::clamp(measured.device_batch_beside_train.value(), 0.5, 100.0);
  contention.train_beside_device_batch = std::clamp(measured.train_beside_device_batch.value(), 0.5, 100.0);
  if (cores > 1) {
    contention.crowded_team =
        beyond_fair_share(measured.team_beside_cpu_batch, contention.train_beside_cpu_batch, cores);
    contention.beside_crowded_team =
        beyond_fair_share(measured.cpu_batch_beside_team, contention.cpu_batch_beside_train, cores);
  }
}

void fill(WorkloadProfile& workload, const Measured& measured, const StopRule& rule) {
  const auto stage_time = [&](Stage stage) {
    const Series& series = measured.of(stage);
    return series.count() == 0 ? StageTime{.converged = true} : series.stage_time(rule.converged(series));
  };
  workload.cpu_batch = stage_time(Stage::cpu_batch);
  workload.transfer = stage_time(Stage::transfer);
  workload.device_batch = stage_time(Stage::device_batch);
  workload.train = stage_time(Stage::train);
  workload.parts.fused_train_ratio = measured.fused_train.known() ? measured.fused_train.value() : 0;
  workload.batch_vertices = measured.vertices.mean();
  workload.batch_edges = measured.edges.mean();
  workload.batch_bytes = measured.bytes.mean();
  add_points(workload.worker_efficiency, measured.worker_efficiency);
  add_points(workload.device_batch_speedup, measured.device_batch_speedup);
  add_points(workload.cpu_batch_speedup, measured.cpu_batch_speedup);
  add_points(workload.train_speedup, measured.train_speedup);
}

WorkloadProfile describe(const graph::Graph& graph, const plan::Job& job, std::int64_t batches) {
  WorkloadProfile workload;
  workload.graph = graph.name;
  workload.vertices = graph.num_vertices();
  workload.edges = graph.num_edges();
  workload.max_degree = graph.max_degree();
  workload.feature_columns = graph.features.columns;
  workload.feature_row_bytes = graph.features.row_bytes();
  workload.train_vertices = static_cast<std::int64_t>(graph.train.size());
  workload.job = job;
  workload.batches = batches;
  return workload;
}

/// The sampling half of the device's preparation.
void fill_sampling(WorkloadProfile& workload, const Measured& measured) {
  if (measured.device_sample.count() > 0) {
    workload.parts.device_sample_s = std::min(measured.device_sample.mean(), workload.device_batch.mean_s);
  }
}

/// Whether a GPU's memory holds all data beside what training takes.
bool fits(const graph::Graph& graph, const runtime::DeviceFacts& device) {
  constexpr double share = 0.9;  // of what is left, for its pieces do not fill it
  const double data =
      static_cast<double>(graph.features.rows) * static_cast<double>(graph.features.row_bytes()) +
      8.0 * static_cast<double>(graph.num_vertices() + graph.num_edges());
  return data < share * (device.memory_bytes - device.peak_bytes);
}

/// What reading over the link takes of a GPU's preparation: what is left of it without; where that was not
/// measured, for the memory does not suffice, all of it.
void fill_link_parts(WorkloadProfile& workload, const std::optional<Resident>& resident) {
  const double sample_s = workload.parts.device_sample_s;
  workload.device_batch_link_s = workload.device_batch.mean_s;
  workload.parts.device_sample_link_s = sample_s;
  if (resident) {
    workload.device_batch_link_s = std::max(0.0, workload.device_batch.mean_s - resident->device_batch_s);
    workload.parts.device_sample_link_s = std::clamp(sample_s - resident->device_sample_s, 0.0,
                                                     std::min(sample_s, workload.device_batch_link_s));
  }
}

void fill(Profile& profile, const runtime::DeviceFacts& facts) {
  auto& device = profile.machine.device;
  device.kind = DeviceKind::cuda;
  device.name = facts.name;
  device.memory_bytes = facts.memory_bytes;
  device.memory_bandwidth_bytes_per_s = facts.memory_bandwidth_bytes_per_s.value_or(0);
  device.multiprocessors = facts.multiprocessors.value_or(0);
  if (facts.link_saturation_share) {
    device.link_saturation_share = *facts.link_saturation_share;
  }
  profile.machine.link.bandwidth_bytes_per_s = facts.link_bandwidth_bytes_per_s.value_or(0);
  profile.machine.link.transfers_per_s = facts.link.transfers_per_s;
  profile.machine.link.lanes = facts.link.lanes;
  auto& workload = profile.workload;
  workload.parts.activation_bytes = std::max(0.0, facts.peak_bytes - workload.batch_bytes);
}

/// The first round warms caches, slots and allocators up and is not counted, unless it took so long that
/// there is hardly time for another.
void run_rounds(Rounds& rounds, Measured& measured, const StopRule& rule, const Stopwatch& watch,
                const base::Progress& progress) {
  const auto out_of_time = [&] { return watch.seconds() >= rule.time_limit_s; };
  const auto tell = [&] {
    const double done_s = std::min(watch.seconds(), rule.time_limit_s);
    base::report(progress, "measuring", static_cast<std::int64_t>(1e3 * done_s),
                 static_cast<std::int64_t>(1e3 * rule.time_limit_s));
  };
  Measured warm_up;
  const double before_s = watch.seconds();
  rounds.run(warm_up, out_of_time);
  if (watch.seconds() + 2 * (watch.seconds() - before_s) > rule.time_limit_s) {
    measured = std::move(warm_up);
  }
  while (!out_of_time() && !measured.converged(rule)) {
    tell();
    rounds.run(measured, out_of_time);
  }
}

}  // namespace

Profile measure(const graph::Graph& graph, const plan::Job& job, const MeasureOptions& options) {
  plan::check(job, "job");
  const Stopwatch watch;
  Profile profile;
  profile.asked_interval = options.asked_interval;
  profile.time_limit_s = options.time_limit_s;
  StopRule rule{.asked_interval = options.asked_interval, .time_limit_s = options.time_limit_s};

  Measured measured;
  std::optional<runtime::DeviceFacts> facts;
  std::optional<Resident> resident;
  rule.time_limit_s *= 1 - 2 * bandwidth_share - access_share - disk_share;
  {
    Rounds rounds(graph, job, base::usable_cores(), options.device, options.stop);
    profile.workload = describe(graph, job, rounds.batches());
    run_rounds(rounds, measured, rule, watch, options.progress);
    if (rounds.has_link()) {
      facts = rounds.device().measure();
      if (fits(graph, *facts)) {
        resident = rounds.measure_resident();
      }
    }
  }
  fill(profile.workload, measured, rule);
  base::report(options.progress, "counting accesses", 0, 0);
  measure_accesses(graph, job, {access_share * options.time_limit_s, options.stop}, profile.workload);
  fill_sampling(profile.workload, measured);

  bool converged = measured.converged(rule);
  rule.time_limit_s = options.time_limit_s * bandwidth_share;
  profile.machine = measure_machine({.rule = rule,
                                     .copy_bytes = static_cast<std::size_t>(profile.workload.batch_bytes),
                                     .stop = options.stop,
                                     .progress = options.progress},
                                    converged);
  if (facts) {
    fill(profile, *facts);
    fill_link_parts(profile.workload, resident);
  }
  if (!graph.directory.empty()) {
    profile.machine.disk =
        measure_disk(graph.directory / "features.npy", disk_share * options.time_limit_s, options.stop);
  }
  const auto hardware = base::allowed_cores();
  profile.machine.cpu.physical_cores = base::physical_cores(hardware);
  profile.machine.cpu.node_cores = base::cores_of_nodes(hardware);
  fill(profile.machine.contention, measured, profile.machine.cpu.cores);
  profile.stopped_by = converged ? "interval" : "time_limit";
  return profile;
}

}  // namespace gnomon::profiles
