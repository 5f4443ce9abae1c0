#include "profiles/measure/workload.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
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
#include "profiles/measure/evidence.h"
#include "profiles/measure/fill_workload.h"
#include "profiles/measure/hot_batch.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/macro_batch.h"
#include "profiles/measure/one_hop.h"
#include "profiles/measure/power.h"
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

class Profiler {
 public:
  Profiler(const graph::Graph& graph, const plan::Job& job, const MeasureOptions& options)
      : graph_(graph), job_(job), options_(options) {
    profile_.asked_interval = options.asked_interval;
    profile_.time_limit_s = options.time_limit_s;
    if (options.machine) {
      profile_.machine_speeds = options.machine->speeds;
    }
  }

  Profile run() && {
    measure_in_rounds();
    measure_apart();
    finish();
    return std::move(profile_);
  }

 private:
  /// The profiles that hold a measurement.
  enum class Scope : std::uint8_t {
    choice,      ///< of every profile: the choice among plans that do not change the training depends on it
    prediction,  ///< of those for predictions: their epochs and memory depend on it
    all          ///< of complete ones: only plans that change the training depend on it
  };
  /// Something that is measured once, after the rounds.
  struct Single {
    const char* name;
    double share;  ///< of the time limit
    Scope scope;
    void (Profiler::*take)(const AccessOptions& within);
  };

  /// While the stages' memory is in use.
  static std::array<Single, 4> beside_stages() {
    return {{{"data in device memory", 0.05, Scope::choice, &Profiler::measure_residence},
             {"a small macro-batch", 0, Scope::all, &Profiler::make_macro_batch},
             {"lists of a macro-batch with a halo", 0.01, Scope::all, &Profiler::measure_halo},
             {"caches of the disk", 0.03, Scope::prediction, &Profiler::measure_disk_caches}}};
  }
  /// When it is free again.
  static std::array<Single, 11> after_stages() {
    return {{{"mini-batches of a macro-batch", 0.02, Scope::all, &Profiler::measure_macro},
             {"mini-batches of smaller fanouts", 0.02, Scope::all, &Profiler::measure_thinner},
             {"reused hot rows", 0.02, Scope::all, &Profiler::measure_hot_rows},
             {"biased sampling", 0.02, Scope::all, &Profiler::measure_bias},
             {"computing reused embeddings", 0.03, Scope::all, &Profiler::measure_refreshing},
             {"historical embeddings", 0.02, Scope::all, &Profiler::measure_one_hop_batches},
             {"mini-batches of resident parts", 0.01, Scope::all, &Profiler::count_residents},
             {"evaluation", 0.05, Scope::choice, &Profiler::measure_evaluations},
             {"bandwidths", 0.08, Scope::choice, &Profiler::measure_bandwidths},
             {"averaging of gradients", 0.04, Scope::choice, &Profiler::measure_averages},
             {"the disk", 0.05, Scope::prediction, &Profiler::measure_disks}}};
  }
  static constexpr double access_share = 0.05;

  bool takes(Scope scope) const {
    return scope == Scope::choice || options_.all || (scope == Scope::prediction && options_.precise);
  }

  /// The share of the time limit that rounds leave for the others.
  double share_of_singles() const {
    double share = access_share;
    const auto add = [&](const auto& singles) {
      for (const Single& single : singles) {
        share += takes(single.scope) ? single.share : 0;
      }
    };
    add(beside_stages());
    add(after_stages());
    return share;
  }

  AccessOptions within(double share) const { return {share * profile_.time_limit_s, options_.stop, {}}; }

  template <std::size_t count>
  void take(const std::array<Single, count>& singles) {
    for (const Single& single : singles) {
      if (takes(single.scope)) {
        base::report(options_.progress, single.name, 0, 0);
        (this->*single.take)(within(single.share));
      }
    }
  }

  void measure_in_rounds() {
    rounds_.emplace(graph_, job_, base::usable_cores(), options_.device, options_.stop);
    partial_share_ = rounds_->partial_share();
    profile_.workload = describe(graph_, job_, rounds_->batches(), options_.device);
    describe_machine();
    warm_up();
    if (rounds_->has_link()) {
      facts_ = rounds_->device().measure();
      fill_device(profile_.machine, *facts_, options_.device);
    }
    if (options_.choose) {
      run_chosen_rounds();
    }
    if (!options_.choose || options_.precise) {
      run_all_rounds();
    }
    runtime_bytes_ = runtime_bytes(graph_, memory_before_);
    weight_bytes_ = static_cast<double>(rounds_->weight_bytes());
    peak_bytes_ = static_cast<double>(rounds_->peak_bytes());
    fill_rounds();
    if (watch_.seconds() - set_up_s_ < options_.time_limit_s) {
      take(beside_stages());
    }
    rounds_.reset();
  }

  void measure_apart() {
    if (!has_accesses_) {
      count_accesses();
    }
    fill_rounds();
    take(after_stages());
  }

  void describe_machine() {
    auto& machine = profile_.machine;
    machine.cpu.name = cpu_name();
    machine.cpu.cores = base::usable_cores();
    machine.cpu.memory_bytes = if_positive(base::usable_memory_bytes());
    machine.device.kind = options_.device.kind;
    machine.device.memory_bytes = machine.cpu.memory_bytes;
    const auto hardware = base::allowed_cores();
    machine.cpu.physical_cores = if_positive(base::physical_cores(hardware));
    machine.cpu.node_cores = base::cores_of_nodes(hardware);
  }

  bool is_spent(double share) const { return watch_.seconds() - set_up_s_ >= share * rounds_limit_s_; }

  void report_rounds(const char* what) const {
    const double done_s = std::min(watch_.seconds() - set_up_s_, rounds_limit_s_);
    base::report(options_.progress, what, static_cast<std::int64_t>(1e3 * done_s),
                 static_cast<std::int64_t>(1e3 * rounds_limit_s_));
  }

  void warm_up() {
    constexpr double warm_up_share = 0.25;
    const double share = 1 - share_of_singles();
    rounds_limit_s_ = share * options_.time_limit_s;
    report_rounds("warming up");
    const double batch_s = rounds_->warm_up([&] { return is_spent(warm_up_share); });
    if (!rounds_->on_cores()) {
      set_up_s_ = watch_.seconds();  // a GPU takes seconds to load kernels, place the graph and pin memory
    }
    if (options_.worth_s) {
      const double worth_s = options_.worth_s(batch_s * static_cast<double>(rounds_->batches()));
      profile_.time_limit_s = std::min(profile_.time_limit_s, worth_s);
      rounds_limit_s_ = share * profile_.time_limit_s;
    }
    rule_ = {.asked_interval = options_.asked_interval, .time_limit_s = rounds_limit_s_};
  }

  /// Until all stages have the requested precision.
  void run_all_rounds() {
    // A short measurement may lie entirely within a burst of other work.
    constexpr double least_share = 0.1;
    do {
      report_rounds("measuring");
      rounds_->run(measured_, [&] { return is_spent(1); });
    } while (!is_spent(least_share) || (!is_spent(1) && !measured_.converged(rule_)) ||
             (!is_spent(2) && measured_.rounds < few_rounds));
    profile_.stopped_by = measured_.converged(rule_) ? "interval" : "time_limit";
  }

  /// Until the choice of a plan is expected to gain nothing by more precision.
  void run_chosen_rounds() {
    profile_.stopped_by = "time_limit";
    rounds_->run(measured_, std::array<std::size_t, 0>{}, [] { return false; });
    count_accesses();
    while (!is_spent(1)) {
      report_rounds("measuring what decides");
      fill_rounds();
      const auto measurements = rounds_->measurements();
      const double left_s = rounds_limit_s_ - (watch_.seconds() - set_up_s_);
      const auto chosen = options_.choose(profile_, measurements, left_s);
      if (chosen.empty()) {
        profile_.stopped_by = "regret";
        break;
      }
      rounds_->run(measured_, chosen, [&] { return is_spent(1); });
    }
    while (measured_.rounds < few_rounds && !is_spent(2)) {
      rounds_->run(measured_, std::array<std::size_t, 0>{}, [] { return false; });
    }
  }

  void count_accesses() {
    base::report(options_.progress, "counting accesses", 0, 0);
    fill_rounds();
    measure_accesses(graph_, job_, within(access_share), profile_.workload);
    has_accesses_ = true;
  }

  /// The profile as far as the rounds tell it, with beliefs of the rest.
  void fill_rounds() {
    auto& workload = profile_.workload;
    fill(workload, measured_, rule_, {workload.batches, partial_share_});
    fill_sampling(workload, measured_);
    if (has_accesses_) {
      workload.work.reset();
      workload.work = batch_work(workload);
    }
    profile_.machine.contention = contention_of(measured_, workload.worker_efficiency,
                                                profile_.machine.cpu.cores, options_.device.kind);
    if (resident_) {
      profile_.machine.contention.train_beside_resident_batch = clamped(resident_->train_slowdown);
    }
    if (facts_) {
      fill_memory(workload, peak_bytes_ > 0 ? peak_bytes_ : facts_->peak_bytes, weight_bytes_);
      fill_link(workload);
    }
    set_beliefs(profile_, measured_);
  }

  /// Until it is measured, preparation is believed to wait for the link as long as its bytes take.
  void fill_link(WorkloadProfile& workload) const {
    if (has_residence_) {
      fill_link_parts(workload, resident_);
      return;
    }
    const auto bandwidth = profile_.machine.link.bandwidth_bytes_per_s;
    const double bytes = workload.batch_vertices * static_cast<double>(workload.feature_row_bytes);
    constexpr double most = 0.95;
    workload.device_batch_link_s =
        std::min(most * workload.device_batch.mean_s, bandwidth ? bytes / *bandwidth : 0);
  }

  /// Preparation with all data in device memory, if it fits. An emulated device is given more memory for
  /// that, if the host has enough; otherwise caches tell it.
  void measure_residence(const AccessOptions& within) {
    if (!rounds_->has_link()) {
      return;
    }
    has_residence_ = true;
    resident_ = if_it_fits([&] { return residence(within.time_limit_s); });
    fill_rounds();
  }

  std::optional<Resident> residence(double time_limit_s) {
    const auto batch_bytes = static_cast<double>(measured_.max_batch_bytes);
    if (fits(graph_, job_, *facts_, batch_bytes)) {
      return rounds_->measure_resident(time_limit_s);
    }
    auto roomy_facts = *facts_;
    roomy_facts.memory_bytes = base::usable_memory_bytes() / 2;
    if (options_.device.kind != DeviceKind::emulated || !fits(graph_, job_, roomy_facts, batch_bytes)) {
      return rounds_->measure_cached(time_limit_s);
    }
    auto roomy = options_.device;
    roomy.max_bytes = static_cast<std::int64_t>(roomy_facts.memory_bytes);
    return Rounds(graph_, job_, base::usable_cores(), roomy, options_.stop).measure_resident(time_limit_s);
  }

  void make_macro_batch(const AccessOptions& /*within*/) {
    macro_ = small_macro_batch(rounds_->placed(), job_);
  }
  void measure_halo(const AccessOptions& within) {
    profile_.workload.parts.halo_entry_s = measure_halo_entry(graph_, within);
  }
  void measure_disk_caches(const AccessOptions& within) {
    fill_disk_batch(profile_.workload, measure_disk_batch(graph_, rounds_->placed(), job_, within));
  }
  void measure_macro(const AccessOptions& within) {
    if (!macro_) {
      return;
    }
    fill_macro_load(profile_.workload, *macro_);
    if (plan::abilities_of(options_.device.kind).macro_batches) {
      const auto times = if_it_fits(
          [&] { return std::optional(measure_macro_batch(macro_->graph, job_, options_.device, within)); });
      if (times) {
        fill_macro_batch(profile_.workload, *times);
      }
    }
  }
  void measure_thinner(const AccessOptions& within) {
    if (macro_) {
      profile_.workload.thin_batches =
          if_it_fits([&] { return measure_thin(macro_->graph, job_, options_.device, within); });
    }
  }
  void measure_hot_rows(const AccessOptions& within) {
    if (macro_) {
      profile_.workload.hot_batch =
          if_it_fits([&] { return measure_hot(macro_->graph, job_, options_.device, within); });
    }
  }
  void measure_bias(const AccessOptions& within) {
    profile_.workload.parts.biased_sample_ratio = measure_biased_sampling(graph_, job_, within);
  }
  void measure_refreshing(const AccessOptions& within) {
    fill_refresh(profile_.workload, measure_refresh(graph_, job_, within));
  }
  void measure_one_hop_batches(const AccessOptions& within) {
    fill_one_hop(profile_.workload,
                 if_it_fits([&] { return measure_one_hop(graph_, job_, options_.device, within); }));
  }
  void count_residents(const AccessOptions& within) {
    profile_.workload.resident_batches = count_resident(graph_, job_, within);
  }
  void measure_evaluations(const AccessOptions& within) {
    profile_.workload.evaluation =
        if_it_fits([&] { return measure_evaluation(graph_, job_, options_.device, within); });
  }

  void measure_bandwidths(const AccessOptions& within) {
    const auto& known = options_.machine;
    if (known && known->machine.cpu.memory_bandwidth_bytes_per_s &&
        known->machine.cpu.copy_bandwidth_bytes_per_s) {
      take_bandwidths(known->machine);
      if (options_.precise && !profile_.machine.running.core_w) {  // brief measurements leave it out
        profile_.machine.running = measure_power_here(profile_.machine.cpu.cores, options_.stop);
      }
      return;
    }
    auto rule = rule_;
    rule.time_limit_s = within.time_limit_s / 2;
    bool converged = true;
    take_bandwidths(measure_machine({.rule = rule,
                                     .copy_bytes = static_cast<std::size_t>(profile_.workload.batch_bytes),
                                     .stop = options_.stop,
                                     .progress = options_.progress},
                                    converged));
    if (!converged && profile_.stopped_by == "interval") {
      profile_.stopped_by = "time_limit";
    }
  }

  void take_bandwidths(const MachineProfile& machine) {
    profile_.machine.name = machine.name;
    profile_.machine.cpu.memory_bandwidth_bytes_per_s = machine.cpu.memory_bandwidth_bytes_per_s;
    profile_.machine.cpu.copy_bandwidth_bytes_per_s = machine.cpu.copy_bandwidth_bytes_per_s;
    profile_.machine.running = machine.running;
    profile_.machine.running.price_per_hour.reset();
    if (!facts_) {
      profile_.machine.device.name = profile_.machine.cpu.name;
    }
  }

  void measure_averages(const AccessOptions& within) {
    if (options_.device.kind == DeviceKind::emulated && options_.device.devices > 1) {
      fill_averaging(profile_.workload, measure_averaging(job_, graph_.features.columns, graph_.num_classes,
                                                          within.time_limit_s));
    }
  }

  void measure_disks(const AccessOptions& within) {
    if (!graph_.directory.empty()) {
      const auto* const file = graph_.features.is_sparse() ? "features_columns.npy" : "features.npy";
      profile_.machine.disk = measure_disk(graph_.directory / file, within.time_limit_s, options_.stop);
    }
  }

  void finish() {
    profile_.machine.cpu.runtime_bytes = if_positive(runtime_bytes_);
    profile_.other_load = load_.load();
  }

  /// Rounds that are run even after the time limit, so that outliers show.
  static constexpr std::int64_t few_rounds = 3;

  const graph::Graph& graph_;
  const plan::Job& job_;
  const MeasureOptions& options_;
  const Stopwatch watch_;
  const base::ProcessMemory memory_before_ = options_.memory_before.value_or(base::process_memory());
  const base::LoadMeter load_;
  Profile profile_;
  Measured measured_;
  StopRule rule_;
  std::optional<Rounds> rounds_;  ///< while the stages' memory is in use
  std::optional<runtime::DeviceFacts> facts_;
  std::optional<Resident> resident_;
  std::optional<SmallMacroBatch> macro_;
  std::optional<double> partial_share_;
  double rounds_limit_s_ = 0;
  double set_up_s_ = 0;  ///< of the device, which does not count
  double runtime_bytes_ = 0;
  double weight_bytes_ = 0;
  double peak_bytes_ = 0;
  bool has_accesses_ = false;
  bool has_residence_ = false;
};

}  // namespace

Profile measure(const graph::Graph& graph, const plan::Job& job, const MeasureOptions& options) {
  plan::check(job, "job");
  return Profiler(graph, job, options).run();
}

}  // namespace gnomon::profiles
