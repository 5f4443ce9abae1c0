#include "profiles/measure/speeds.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "base/cores.h"
#include "base/median.h"
#include "base/other_load.h"
#include "base/team.h"
#include "base/usable.h"
#include "graph/generate/generate.h"
#include "profiles/measure/bench.h"
#include "profiles/measure/device_facts.h"
#include "profiles/measure/disk.h"
#include "profiles/measure/host_probes.h"
#include "profiles/measure/machine.h"
#include "profiles/measure/probe.h"
#include "profiles/measure/statistics.h"
#include "profiles/measure/tensor_probes.h"

namespace gnomon::profiles {
namespace {

constexpr double speeds_bandwidth_share = 0.03;  // of the time limit, for each of the two
constexpr double speeds_disk_share = 0.1;

/// "2026-11-24", of UTC.
std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[16];
  return {text, std::strftime(text, sizeof text, "%F", &parts)};
}

/// A file of random bytes to read; removed by the destructor.
class NoiseFile {
 public:
  explicit NoiseFile(const std::filesystem::path& directory)
      : path_(directory / (".gnomon-machine-" + std::to_string(::getpid()))) {
    std::ofstream file(path_, std::ios::binary);
    std::vector<std::uint64_t> block(chunk_bytes / sizeof(std::uint64_t));
    std::uint64_t number = 1;
    for (std::size_t written = 0; written < bytes && file; written += chunk_bytes) {
      for (auto& word : block) {
        word = number *= 0x9E3779B97F4A7C15U;
      }
      file.write(reinterpret_cast<const char*>(block.data()), static_cast<std::streamsize>(chunk_bytes));
    }
  }
  ~NoiseFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  NoiseFile(const NoiseFile&) = delete;
  NoiseFile& operator=(const NoiseFile&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 20;
  static constexpr std::size_t bytes = std::size_t{64} << 20;
  std::filesystem::path path_;
};

Speed disk_speed(Work work, std::optional<double> size, const Series& series, double asked_interval) {
  return {.work = work,
          .threads = 1,
          .size = size,
          .per_s = base::median(series.samples()),
          .deviation = series.deviation() / series.mean(),
          .interval = series.relative_interval(),
          .samples = series.count(),
          .converged = series.relative_interval() <= asked_interval};
}

/// Adds the disk's speeds if direct I/O is supported.
void measure_disk_speeds(const SpeedOptions& options, CatalogMachine& machine) {
  constexpr int rounds = 3;
  const NoiseFile file(options.disk);
  Series random;
  Series sequential;
  for (int round = 0; round < rounds; ++round) {
    base::report(options.progress, "measuring the disk", round, rounds);
    const Disk disk =
        measure_disk(file.path(), speeds_disk_share * options.time_limit_s / rounds, options.stop);
    if (!disk.random_reads_per_s || !disk.bandwidth_bytes_per_s) {
      return;
    }
    machine.machine.disk = disk;
    random.add(*disk.random_reads_per_s);
    sequential.add(*disk.bandwidth_bytes_per_s);
  }
  auto& disk = machine.machine.disk;
  disk.random_reads_per_s = base::median(random.samples());
  disk.bandwidth_bytes_per_s = base::median(sequential.samples());
  machine.speeds->speeds.push_back(
      disk_speed(Work::disk_random, disk.block_bytes, random, options.asked_interval));
  machine.speeds->speeds.push_back(
      disk_speed(Work::disk_sequential, std::nullopt, sequential, options.asked_interval));
}

/// Device properties are measured by a bench with a small job, as in the profiler.
void measure_device(const SpeedOptions& options, MachineProfile& machine) {
  const auto graph =
      graph::generate_in_memory(graph::PlantedPartition{.vertices = 4096, .average_degree = 8, .classes = 4});
  plan::Job job;
  job.fanouts = {4, 3};
  job.batch_size = 256;
  job.hidden = 16;
  Bench bench(graph, job, 1, options.device);
  fill_device(machine, bench.device().measure(), options.device);
}

ProbeSizes sizes_of(const SpeedOptions& options) {
  const std::size_t room = static_cast<std::size_t>(base::usable_memory_bytes() / 16);
  ProbeSizes sizes;
  sizes.max_bytes = std::max(std::min(options.max_bytes, room), std::size_t{1} << 20);
  if (options.scope == SpeedScope::brief) {
    sizes.max_bytes = std::min(sizes.max_bytes, checked_lines_bytes);
    sizes.max_copy_bytes = checked_copy_bytes;
    sizes.max_vertices = std::size_t{64} << 10;
  }
  return sizes;
}

std::vector<Probe> probes_of(const SpeedOptions& options, int cores) {
  const auto sizes = sizes_of(options);
  auto probes = host_probes(std::make_shared<base::Team>(cores), sizes);
  const auto add = [&](std::vector<Probe> more) {
    std::move(more.begin(), more.end(), std::back_inserter(probes));
  };
  add(host_tensor_probes(cores));
  if (options.device.kind == DeviceKind::cuda) {
    add(device_probes(c10::Device(c10::kCUDA, 0), sizes.max_bytes));
  }
  return probes;
}

ProbeOptions probe_options(const SpeedOptions& options, double time_limit_s) {
  ProbeOptions probing{.asked_interval = options.asked_interval,
                       .time_limit_s = time_limit_s,
                       .stop = options.stop,
                       .progress = options.progress};
  if (options.scope == SpeedScope::brief) {
    probing.visit_s = probing.max_warm_up_s = 0.001;
    probing.min_visits = 3;
    probing.equal_time = true;
  }
  return probing;
}

}  // namespace

CatalogMachine measure_whole_machine(const SpeedOptions& options) {
  const Stopwatch watch;
  const base::LoadMeter load;
  const bool is_brief = options.scope == SpeedScope::brief;
  bool converged = true;
  CatalogMachine machine;
  machine.machine = measure_machine({.rule = {.asked_interval = options.asked_interval,
                                              .time_limit_s = speeds_bandwidth_share * options.time_limit_s},
                                     .brief = is_brief,
                                     .stop = options.stop,
                                     .progress = options.progress},
                                    converged);
  const auto hardware = base::allowed_cores();
  if (const int physical = base::physical_cores(hardware); physical > 0) {
    machine.machine.cpu.physical_cores = physical;
  }
  machine.machine.cpu.node_cores = base::cores_of_nodes(hardware);
  machine.name = machine.machine.name;
  machine.about = "measured by gnomon machine";
  machine.read = today();
  machine.speeds = {.asked_interval = options.asked_interval};
  const double host_s = watch.seconds();
  if (options.device.kind == DeviceKind::cuda) {
    measure_device(options, machine.machine);
  }
  const double device_s = watch.seconds() - host_s;
  const auto probes = probes_of(options, machine.machine.cpu.cores);
  const bool has_disk = !is_brief && !options.disk.empty();
  const double reserved_s = has_disk ? speeds_disk_share * options.time_limit_s : 0;
  const double spent_s = watch.seconds() - (is_brief ? device_s : 0);
  machine.speeds->speeds =
      measure_speeds(probes, probe_options(options, options.time_limit_s - spent_s - reserved_s));
  if (has_disk) {
    measure_disk_speeds(options, machine);
  }
  machine.speeds->seconds = watch.seconds();
  machine.speeds->other_load = load.load();
  return machine;
}

}  // namespace gnomon::profiles
