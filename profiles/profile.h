#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "plan/abilities.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "plan/vocabulary.h"

namespace gnomon::profiles {

using plan::DeviceKind;

struct Cpu {
  std::string name;
  int cores = 1;
  int physical_cores = 0;       ///< of those; 0: not known
  std::vector<int> node_cores;  ///< on each node of memory (NUMA); empty: not known
  double memory_bytes = 0;
  double memory_bandwidth_bytes_per_s = 0;  ///< all cores reading
  double copy_bandwidth_bytes_per_s = 0;    ///< one core copying, bytes copied (not read + written)
  double process_bytes = 3e8;               ///< that a worker process takes before it does anything

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("name", self.name);
    f.required("cores", self.cores, base::Range{1, 4096});
    f("physical_cores", self.physical_cores, base::Range{0, 4096});
    f("node_cores", self.node_cores, base::Range{0, 4096});
    f("memory_bytes", self.memory_bytes, base::non_negative);
    f("memory_bandwidth_bytes_per_s", self.memory_bandwidth_bytes_per_s, base::non_negative);
    f("copy_bandwidth_bytes_per_s", self.copy_bandwidth_bytes_per_s, base::non_negative);
    f("process_bytes", self.process_bytes, base::non_negative);
  }
};

struct Device {
  DeviceKind kind = DeviceKind::host;
  std::string name;
  double memory_bytes = 0;                  ///< of each; 0: not known
  int count = 1;                            ///< devices of this kind
  int multiprocessors = 0;                  ///< of each; 0: not known
  double memory_bandwidth_bytes_per_s = 0;  ///< 0: reading its memory takes no time of its own
  double link_saturation_share = 0.1;  ///< of its multiprocessors that zero-copy reads at full speed need
  double context_bytes = 5e8;          ///< of its memory that libraries and kernels take

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("kind", self.kind);
    f("name", self.name);
    f("count", self.count, base::Range{1, 64});
    f("memory_bytes", self.memory_bytes, base::non_negative);
    f("multiprocessors", self.multiprocessors, base::Range{0, 1e6});
    f("memory_bandwidth_bytes_per_s", self.memory_bandwidth_bytes_per_s, base::non_negative);
    f("link_saturation_share", self.link_saturation_share, base::Range{0, 1});
    f("context_bytes", self.context_bytes, base::non_negative);
  }
};

/// PCIe between host and devices. Stage times are measured over it; its bandwidth is for what was not.
struct Link {
  double bandwidth_bytes_per_s = 0;  ///< of one copy engine; 0: not known
  double transfers_per_s = 0;        ///< of each lane: 16e9 is PCIe 4; 0: not known
  int lanes = 0;                     ///< 0: not known
  int devices_per_switch = 1;        ///< devices that share one way to the host
  double outstanding_reads = 256;    ///< zero-copy requests in flight: 256 on PCIe 3, 768 on PCIe 4
  double round_trip_s = 1e-6;
  double header_bytes = 16;  ///< of each request's answer

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, base::non_negative);
    f("transfers_per_s", self.transfers_per_s, base::non_negative);
    f("lanes", self.lanes, base::Range{0, 1024});
    f("devices_per_switch", self.devices_per_switch, base::Range{1, 64});
    f("outstanding_reads", self.outstanding_reads, base::Range{1, 1e6});
    f("round_trip_s", self.round_trip_s, base::non_negative);
    f("header_bytes", self.header_bytes, base::Range{0, 1024});
  }
};

/// Links between devices (NVLink). Devices 0 … clique-1 are all linked to each other, the next ones likewise.
struct Peers {
  double bandwidth_bytes_per_s = 0;  ///< of one device to the others; 0: there are no such links
  int clique = 1;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, base::non_negative);
    f("clique", self.clique, base::Range{1, 64});
  }
};

struct Disk {
  double bandwidth_bytes_per_s = 0;  ///< reading large parts in order; 0: not known
  double random_reads_per_s = 0;     ///< of one block each, with a full queue
  double block_bytes = 4096;
  int queue_depth = 32;  ///< reads in flight that it takes to get random_reads_per_s

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, base::non_negative);
    f("random_reads_per_s", self.random_reads_per_s, base::non_negative);
    f("block_bytes", self.block_bytes, base::Range{1, 1e9});
    f("queue_depth", self.queue_depth, base::Range{1, 256});
  }
};

/// What running the machine takes; 0: not known.
struct Running {
  double idle_w = 0;          ///< that it draws when nothing runs, in watts
  double core_w = 0;          ///< what a busy core draws beyond that
  double device_w = 0;        ///< what a busy GPU draws beyond that
  double price_per_hour = 0;  ///< in any currency

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("idle_w", self.idle_w, base::non_negative);
    f("core_w", self.core_w, base::non_negative);
    f("device_w", self.device_w, base::non_negative);
    f("price_per_hour", self.price_per_hour, base::non_negative);
  }
};

/// How much longer a stage takes while one stage of another kind runs beside it on its own core: 1 is not at
/// all, 1.1 is ten percent. Slowdowns of several neighbours add up: 1 + sum of (slowdown - 1).
struct Contention {
  double cpu_batch_beside_train = 1;
  double cpu_batch_beside_device_batch = 1;
  double train_beside_cpu_batch = 1;
  double device_batch_beside_cpu_batch = 1;
  double transfer_beside_train = 1;
  double train_beside_transfer = 1;
  double cpu_batch_beside_transfer = 1;
  double transfer_beside_cpu_batch = 1;
  double transfer_beside_device_batch = 1;  ///< beyond the link that they share
  double device_batch_beside_transfer = 1;
  double device_batch_beside_train = 1;  ///< of devices that prepare beside training
  double train_beside_device_batch = 1;  ///< beyond the multiprocessors that are not training's
  /// Where more threads run than there are cores, on top of a fair share of the cores: what several threads
  /// do together, for these wait for the slowest of them again and again …
  double crowded_team = 1;
  double beside_crowded_team = 1;  ///< … and what runs beside them, which may gain by it

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    const base::Range range{0.5, 100};
    f("cpu_batch_beside_train", self.cpu_batch_beside_train, range);
    f("cpu_batch_beside_device_batch", self.cpu_batch_beside_device_batch, range);
    f("train_beside_cpu_batch", self.train_beside_cpu_batch, range);
    f("device_batch_beside_cpu_batch", self.device_batch_beside_cpu_batch, range);
    f("transfer_beside_train", self.transfer_beside_train, range);
    f("train_beside_transfer", self.train_beside_transfer, range);
    f("cpu_batch_beside_transfer", self.cpu_batch_beside_transfer, range);
    f("transfer_beside_cpu_batch", self.transfer_beside_cpu_batch, range);
    f("transfer_beside_device_batch", self.transfer_beside_device_batch, range);
    f("device_batch_beside_transfer", self.device_batch_beside_transfer, range);
    f("device_batch_beside_train", self.device_batch_beside_train, range);
    f("train_beside_device_batch", self.train_beside_device_batch, range);
    f("crowded_team", self.crowded_team, range);
    f("beside_crowded_team", self.beside_crowded_team, range);
  }
};

struct MachineProfile {
  std::string name;
  Cpu cpu;
  Device device;
  Link link;
  Peers peers;
  Disk disk;
  Running running;
  Contention contention;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("name", self.name);
    f.required("cpu", self.cpu);
    f.required("device", self.device);
    f("link", self.link);
    f("peers", self.peers);
    f("disk", self.disk);
    f("running", self.running);
    f("contention", self.contention);
  }
};

/// A measured duration: what one stage takes for one batch, alone on the machine.
struct StageTime {
  double mean_s = 0;
  double deviation_s = 0;  ///< standard deviation over batches
  double p5_s = 0, p50_s = 0, p95_s = 0;
  double interval_s = 0;  ///< half width of the mean's 95 % confidence interval
  std::int64_t samples = 0;
  bool converged = false;  ///< whether the interval came under the asked width before the time limit

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("mean_s", self.mean_s, base::non_negative);
    f("deviation_s", self.deviation_s, base::non_negative);
    f("p5_s", self.p5_s, base::non_negative);
    f("p50_s", self.p50_s, base::non_negative);
    f("p95_s", self.p95_s, base::non_negative);
    f("interval_s", self.interval_s, base::non_negative);
    f("samples", self.samples, base::non_negative);
    f("converged", self.converged);
  }
};

/// The same stage with more threads or more workers.
struct ScalingPoint {
  int threads = 1;
  double value = 1;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("threads", self.threads, base::Range{1, 4096});
    f.required("value", self.value, base::Range{1e-6, 1e6});
  }
};

/// The share of accesses that a cache answers which holds this share of all vertices (of adjacency lists: of
/// their bytes).
struct HitPoint {
  double share = 0;
  double hits = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("share", self.share, base::Range{0, 1});
    f.required("hits", self.hits, base::Range{0, 1});
  }
};

/// Measured on the graph: hits against size for one way to choose what a cache holds.
struct HitCurve {
  plan::CachePolicy policy = plan::CachePolicy::none;
  std::vector<HitPoint> points;  ///< rising; linear between them, from (0, 0) to (1, 1)

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("policy", self.policy);
    f.required("points", self.points);
  }
};

/// How unevenly one kind of data is used.
struct Accesses {
  /// Where no curve was measured: the vertex of rank r is used in proportion to r^-skew; 0: all alike.
  double skew = 0;
  std::vector<HitCurve> curves;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("skew", self.skew, base::Range{0, 0.999});
    f("curves", self.curves);
  }
};

/// What stages consist of, for plans that leave a part out or do it elsewhere. 0: not known; then parts are
/// taken in proportion to the bytes that they read.
struct StageParts {
  double cpu_sample_s = 0;            ///< of cpu_batch: drawing neighbours; the rest gathers features
  double device_sample_s = 0;         ///< of device_batch, likewise
  double device_sample_link_s = 0;    ///< of device_batch_link_s: reading adjacency lists
  double cpu_batch_memory_bytes = 0;  ///< host memory traffic of one batch; 0: contention alone counts
  double transfer_memory_bytes = 0;
  double device_batch_memory_bytes = 0;
  double activation_bytes = 0;  ///< device memory at the peak of one training beyond batch and model
  double refresh_s = 0;         ///< one core's time for the bottom layer of one batch's hot vertices, all hot
  double fused_train_ratio =
      0;  ///< training that reads features where they are stored over training on gathered ones

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("cpu_sample_s", self.cpu_sample_s, base::non_negative);
    f("device_sample_s", self.device_sample_s, base::non_negative);
    f("device_sample_link_s", self.device_sample_link_s, base::non_negative);
    f("cpu_batch_memory_bytes", self.cpu_batch_memory_bytes, base::non_negative);
    f("transfer_memory_bytes", self.transfer_memory_bytes, base::non_negative);
    f("device_batch_memory_bytes", self.device_batch_memory_bytes, base::non_negative);
    f("activation_bytes", self.activation_bytes, base::non_negative);
    f("refresh_s", self.refresh_s, base::non_negative);
    f("fused_train_ratio", self.fused_train_ratio, base::Range{0, 10});
  }
};

/// One workload (graph and job) on one machine.
struct WorkloadProfile {
  std::string graph;
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  std::int64_t max_degree = 0;  ///< 0: not known
  std::int64_t feature_columns = 0;
  std::int64_t feature_row_bytes = 0;
  std::int64_t train_vertices = 0;
  plan::Job job;
  std::int64_t batches = 0;   ///< mini-batches an epoch
  double batch_vertices = 0;  ///< means per mini-batch
  double batch_edges = 0;
  double batch_bytes = 0;  ///< what a transfer copies
  StageTime cpu_batch;     ///< one worker
  StageTime transfer;      ///< 0 where the device is the host, which takes batches as they lie
  StageTime device_batch;  ///< with one device thread when the device is the host
  StageTime train;         ///< likewise
  double device_batch_link_s =
      0;  ///< the part of device_batch in which it reads over the link (T_UVA); 0 for a host device
  std::vector<ScalingPoint>
      worker_efficiency;  ///< w workers do w * value / cpu_batch.mean_s batches a second
  std::vector<ScalingPoint> cpu_batch_speedup;  ///< of a batch that so many threads of a worker share
  std::vector<ScalingPoint> train_speedup;  ///< train takes train.mean_s / value with so many device threads
  std::vector<ScalingPoint> device_batch_speedup;
  StageParts parts;
  Accesses features;  ///< of feature rows
  Accesses topology;  ///< of adjacency lists

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("graph", self.graph);
    f("vertices", self.vertices, base::non_negative);
    f("edges", self.edges, base::non_negative);
    f("max_degree", self.max_degree, base::non_negative);
    f("feature_columns", self.feature_columns, base::non_negative);
    f("feature_row_bytes", self.feature_row_bytes, base::non_negative);
    f("train_vertices", self.train_vertices, base::non_negative);
    f("job", self.job);
    f.required("batches", self.batches, base::Range{1, 1e9});
    f("batch_vertices", self.batch_vertices, base::non_negative);
    f("batch_edges", self.batch_edges, base::non_negative);
    f("batch_bytes", self.batch_bytes, base::non_negative);
    f.required("cpu_batch", self.cpu_batch);
    f.required("transfer", self.transfer);
    f.required("device_batch", self.device_batch);
    f.required("train", self.train);
    f("device_batch_link_s", self.device_batch_link_s, base::non_negative);
    f("worker_efficiency", self.worker_efficiency);
    f("cpu_batch_speedup", self.cpu_batch_speedup);
    f("train_speedup", self.train_speedup);
    f("device_batch_speedup", self.device_batch_speedup);
    f("parts", self.parts);
    f("features", self.features);
    f("topology", self.topology);
  }
};

/// How far a stage's time in real runs is from what was predicted of it there.
struct Correction {
  double ratio = 1;           ///< measured over predicted
  double standard_error = 0;  ///< of the ratio
  std::int64_t batches = 0;   ///< that it was measured on

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("ratio", self.ratio, base::Range{0.01, 100});
    f.required("standard_error", self.standard_error, base::non_negative);
    f.required("batches", self.batches, base::Range{1, 1e12});
  }
};

/// What real runs say about the predictions: stages that they had. Predicted times are those measured alone,
/// with contention; both are of the same plans.
struct Corrections {
  std::optional<Correction> cpu_batch;
  std::optional<Correction> transfer;
  std::optional<Correction> device_batch;
  std::optional<Correction> train;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("cpu_batch", self.cpu_batch);
    f("transfer", self.transfer);
    f("device_batch", self.device_batch);
    f("train", self.train);
  }
};

/// The ratio to predict with: 1 where nothing was measured.
inline double ratio_of(const std::optional<Correction>& correction) {
  return correction ? correction->ratio : 1.0;
}

/// What `gnomon profile` writes and everything that predicts reads.
struct Profile {
  static constexpr std::string_view schema = "gnomon.profile/1";
  MachineProfile machine;
  WorkloadProfile workload;
  double asked_interval = 0.02;  ///< asked half width of the confidence intervals, relative to the mean
  double time_limit_s = 0;
  std::string stopped_by;                  ///< "interval" or "time_limit"
  std::optional<Corrections> corrections;  ///< by which the simulator multiplies its stages' times

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("machine", self.machine);
    f.required("workload", self.workload);
    f("asked_interval", self.asked_interval, base::Range{0, 1});
    f("time_limit_s", self.time_limit_s, base::non_negative);
    f("stopped_by", self.stopped_by);
    f("corrections", self.corrections);
  }
};

/// Throws InputError when fields contradict each other (a link part longer than the stage, scaling points not
/// rising …).
void check(const Profile& profile, const std::string& where);

/// Reads and checks. Throws InputError.
Profile read_profile(const std::filesystem::path& path);

/// The value at `threads`: linear between the measured points (and one thread, which counts as 1 where it was
/// not measured), the last one beyond them, 1 without points.
double scaling_at(const std::vector<ScalingPoint>& points, int threads);

/// What plans are resolved on.
inline plan::Cores cores_of(const Profile& profile) {
  return {profile.machine.cpu.cores, profile.machine.device.kind, profile.machine.device.count};
}

}  // namespace gnomon::profiles
