#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document.h"
#include "base/other_load.h"
#include "plan/abilities.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "plan/vocabulary.h"
#include "profiles/speeds.h"

namespace gnomon::profiles {

using plan::DeviceKind;

/// A quantity that is unknown has no value and is absent from documents. These are the ranges of quantities
/// that are above 0 wherever they are known: earlier versions wrote 0 for unknown, so 0 is read as absent.
inline constexpr base::Range positive_or_unknown{0, std::numeric_limits<double>::infinity(), true};
inline constexpr base::Range count_or_unknown{0, 1e6, true};

struct Cpu {
  std::string name;
  int cores = 1;
  std::optional<int> physical_cores{};
  std::vector<int> node_cores;  ///< cores of each NUMA node; empty if unknown
  std::optional<double> memory_bytes{};
  std::optional<double> memory_bandwidth_bytes_per_s{};  ///< all cores reading
  std::optional<double> copy_bandwidth_bytes_per_s{};  ///< one core copying; bytes copied, not read + written
  double process_bytes = 3e8;                          ///< memory of an idle worker process
  /// Memory of the training process apart from graph, mini-batches and tensors: the program, its libraries
  /// and their buffers.
  std::optional<double> runtime_bytes{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("name", self.name);
    f.required("cores", self.cores, base::Range{1, 4096});
    f("physical_cores", self.physical_cores, base::Range{0, 4096, true});
    f("node_cores", self.node_cores, base::Range{0, 4096});
    f("memory_bytes", self.memory_bytes, positive_or_unknown);
    f("memory_bandwidth_bytes_per_s", self.memory_bandwidth_bytes_per_s, positive_or_unknown);
    f("copy_bandwidth_bytes_per_s", self.copy_bandwidth_bytes_per_s, positive_or_unknown);
    f("process_bytes", self.process_bytes, base::non_negative);
    f("runtime_bytes", self.runtime_bytes, positive_or_unknown);
  }
};

struct Device {
  DeviceKind kind = DeviceKind::host;
  std::string name;
  std::optional<double> memory_bytes{};                  ///< of each device
  int count = 1;                                         ///< devices of this kind
  std::optional<int> multiprocessors{};                  ///< of each device
  std::optional<double> memory_bandwidth_bytes_per_s{};  ///< if unknown, hits in its cache take no time
  std::optional<double> peak_fp32_flops_per_s{};         ///< of products of fp32 matrices, by the data sheet
  std::optional<double> peak_tf32_flops_per_s{};  ///< of those rounded to TF32; absent if it has no TF32
  double link_saturation_share = 0.1;  ///< share of its thread slots that saturates the link by zero-copy
  double context_bytes = 8.4e8;        ///< device memory of libraries and kernels (LibTorch 2.11 on an H100)
  std::optional<double> launch_s{};    ///< launch time of one kernel, if it waits for no other

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("kind", self.kind);
    f("name", self.name);
    f("count", self.count, base::Range{1, 64});
    f("memory_bytes", self.memory_bytes, positive_or_unknown);
    f("multiprocessors", self.multiprocessors, count_or_unknown);
    f("memory_bandwidth_bytes_per_s", self.memory_bandwidth_bytes_per_s, positive_or_unknown);
    f("peak_fp32_flops_per_s", self.peak_fp32_flops_per_s, positive_or_unknown);
    f("peak_tf32_flops_per_s", self.peak_tf32_flops_per_s, positive_or_unknown);
    f("link_saturation_share", self.link_saturation_share, base::Range{0, 1});
    f("context_bytes", self.context_bytes, base::non_negative);
    f("launch_s", self.launch_s, positive_or_unknown);
  }
};

/// PCIe between host and devices. Measured stage times include it; its bandwidth is for transfers that were
/// not measured.
struct Link {
  std::optional<double> bandwidth_bytes_per_s{};  ///< of one copy engine
  std::optional<double> transfers_per_s{};        ///< of each lane: 16e9 is PCIe 4
  std::optional<int> lanes{};
  int devices_per_switch = 1;      ///< devices that share one path to the host
  double outstanding_reads = 256;  ///< zero-copy requests in flight: 256 on PCIe 3, 768 on PCIe 4
  double round_trip_s = 1e-6;
  double header_bytes = 16;  ///< of each response

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, positive_or_unknown);
    f("transfers_per_s", self.transfers_per_s, positive_or_unknown);
    f("lanes", self.lanes, base::Range{0, 1024, true});
    f("devices_per_switch", self.devices_per_switch, base::Range{1, 64});
    f("outstanding_reads", self.outstanding_reads, base::Range{1, 1e6});
    f("round_trip_s", self.round_trip_s, base::non_negative);
    f("header_bytes", self.header_bytes, base::Range{0, 1024});
  }
};

/// Links between devices (NVLink). Devices 0 … clique-1 are all linked to each other, as are the next
/// `clique` devices, and so on.
struct Peers {
  double bandwidth_bytes_per_s = 0;  ///< of one device to the others; 0 if there are no such links
  int clique = 1;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, base::non_negative);
    f("clique", self.clique, base::Range{1, 64});
  }
};

struct Disk {
  std::optional<double> bandwidth_bytes_per_s{};  ///< sequential reads
  std::optional<double> random_reads_per_s{};     ///< of one block each, with a full queue
  double block_bytes = 4096;
  int queue_depth = 32;  ///< reads in flight that reach random_reads_per_s

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("bandwidth_bytes_per_s", self.bandwidth_bytes_per_s, positive_or_unknown);
    f("random_reads_per_s", self.random_reads_per_s, positive_or_unknown);
    f("block_bytes", self.block_bytes, base::Range{1, 1e9});
    f("queue_depth", self.queue_depth, base::Range{1, 256});
  }
};

/// Power (in watts) and price of running the machine.
struct Running {
  std::optional<double> idle_w{};          ///< of the idle machine
  std::optional<double> core_w{};          ///< additional power of a busy core
  std::optional<double> device_w{};        ///< additional power of a busy GPU
  std::optional<double> price_per_hour{};  ///< in any currency

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("idle_w", self.idle_w, positive_or_unknown);
    f("core_w", self.core_w, positive_or_unknown);
    f("device_w", self.device_w, positive_or_unknown);
    f("price_per_hour", self.price_per_hour, positive_or_unknown);
  }
};

/// The share of a device (plan::Plan::prepare_share) with which the profiler measures preparation beside
/// training.
inline constexpr double measured_prepare_share = 0.5;

/// Slowdown of a stage while one stage of another kind runs beside it on a core of its own: 1.1 means ten
/// percent longer. Slowdowns of several neighbours add up: 1 + sum of (slowdown - 1). A slowdown that was not
/// measured is absent and counts as 1. Copies and preparation on a device slow each other only as they share
/// the link, which is modelled apart.
///
/// A GPU's slowdowns by preparation beside training are measured with measured_prepare_share of its thread
/// slots.
struct Contention {
  std::optional<double> cpu_batch_beside_train{};
  std::optional<double> cpu_batch_beside_device_batch{};
  std::optional<double> train_beside_cpu_batch{};
  std::optional<double> device_batch_beside_cpu_batch{};
  std::optional<double> transfer_beside_train{};
  std::optional<double> train_beside_transfer{};
  std::optional<double> cpu_batch_beside_transfer{};
  std::optional<double> transfer_beside_cpu_batch{};
  /// A GPU's stages beside mini-batches that the CPU prepares on all cores but one, one on each: those of
  /// copies and training in a pipeline of both.
  std::optional<double> transfer_beside_workers{};
  std::optional<double> device_batch_beside_workers{};
  std::optional<double> train_beside_workers{};
  /// Those mini-batches beside such a pipeline, beyond worker_efficiency.
  std::optional<double> workers_beside_device{};
  std::optional<double> device_batch_beside_train{};  ///< of devices that prepare beside training
  std::optional<double> train_beside_device_batch{};
  std::optional<double> train_beside_resident_batch{};  ///< the last one where nothing is read over the link
  /// Of several devices on the host's cores, each on a core of its own.
  std::optional<double> train_beside_train{};
  std::optional<double> device_batch_beside_device_batch{};
  /// Slowdowns of an oversubscribed CPU (more runnable threads than cores) beyond its fair share: of a team
  /// of threads, whose barriers wait for the slowest of them …
  std::optional<double> crowded_team{};
  std::optional<double>
      beside_crowded_team{};  ///< … and of single threads beside a team, which may run faster

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
    f("transfer_beside_workers", self.transfer_beside_workers, range);
    f("device_batch_beside_workers", self.device_batch_beside_workers, range);
    f("train_beside_workers", self.train_beside_workers, range);
    f("workers_beside_device", self.workers_beside_device, range);
    f("device_batch_beside_train", self.device_batch_beside_train, range);
    f("train_beside_device_batch", self.train_beside_device_batch, range);
    f("train_beside_resident_batch", self.train_beside_resident_batch, range);
    f("train_beside_train", self.train_beside_train, range);
    f("device_batch_beside_device_batch", self.device_batch_beside_device_batch, range);
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

/// The measured time of one stage for one batch, alone on the machine.
struct StageTime {
  double mean_s = 0;       ///< within an epoch: median of epochs' means, robust against bursts of other work
  double deviation_s = 0;  ///< standard deviation over batches
  double p5_s = 0, p50_s = 0, p95_s = 0;
  double interval_s = 0;  ///< half width of the mean's 95 % confidence interval
  std::int64_t samples = 0;
  bool converged = false;  ///< whether the interval reached the requested width before the time limit

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

/// The speed of a stage with more threads or workers.
struct ScalingPoint {
  int threads = 1;
  double value = 1;
  /// Half width of the value's 95 % confidence interval, over it, if it was moved to another machine; absent
  /// if it was measured on this one, where it is as precise as the stage's time.
  std::optional<double> interval{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("threads", self.threads, base::Range{1, 4096});
    f.required("value", self.value, base::Range{1e-6, 1e6});
    f("interval", self.interval, base::non_negative);
  }
};

/// A cache that holds `share` of all vertices (of adjacency lists: of their bytes) answers `hits` of all
/// accesses.
struct HitPoint {
  double share = 0;
  double hits = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("share", self.share, base::Range{0, 1});
    f.required("hits", self.hits, base::Range{0, 1});
  }
};

/// Hit rate against cache size, measured on the graph for one cache policy.
struct HitCurve {
  plan::CachePolicy policy = plan::CachePolicy::none;
  std::vector<HitPoint> points;  ///< rising; linear between them, from (0, 0) to (1, 1)

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("policy", self.policy);
    f.required("points", self.points);
  }
};

/// How similar the accesses of two epochs are: the sum over all vertices of the smaller of the two counts,
/// divided by the first epoch's accesses.
struct Overlap {
  double all = 0;    ///< of all vertices
  double tenth = 0;  ///< of the tenth of all vertices that the first epoch accessed most

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("all", self.all, base::Range{0, 1});
    f.required("tenth", self.tenth, base::Range{0, 1});
  }
};

/// The access distribution of one kind of data.
struct Accesses {
  /// Used if no curve was measured: the vertex of rank r is accessed in proportion to r^-skew; 0 is uniform.
  double skew = 0;
  std::vector<HitCurve> curves;
  std::optional<Overlap> overlap{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("skew", self.skew, base::Range{0, 0.999});
    f("curves", self.curves);
    f("overlap", self.overlap);
  }
};

/// The blocks of a store's file of adjacency lists from which sampling reads drawn neighbours.
struct ListBlocks {
  double block_bytes = 4096;  ///< of a direct read
  double blocks = 0;          ///< that a mini-batch reads, each once in a hop
  double reads = 0;           ///< by which it reads them: near ones are merged
  Accesses accesses;          ///< of all blocks

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("block_bytes", self.block_bytes, base::Range{1, 1e9});
    f.required("blocks", self.blocks, base::non_negative);
    f.required("reads", self.reads, base::non_negative);
    f.required("accesses", self.accesses);
  }
};

/// Mean sizes of one hop of a mini-batch, and their standard deviations over the full mini-batches, where
/// these are known.
struct HopCounts {
  double destinations = 0;  ///< vertices whose neighbours are drawn
  double edges = 0;
  std::optional<double> destinations_deviation{};
  std::optional<double> edges_deviation{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("destinations", self.destinations, base::non_negative);
    f.required("edges", self.edges, base::non_negative);
    f("destinations_deviation", self.destinations_deviation, base::non_negative);
    f("edges_deviation", self.edges_deviation, base::non_negative);
  }
};

/// Standard deviations over the full mini-batches.
struct BatchDeviations {
  double vertices = 0;
  double edges = 0;
  double bytes = 0;  ///< copied by a transfer

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("vertices", self.vertices, base::non_negative);
    f.required("edges", self.edges, base::non_negative);
    f.required("bytes", self.bytes, base::non_negative);
  }
};

/// The share of the first layer's destinations, and of the edges to them, that falls on the hottest vertices,
/// against their share of all vertices. Vertices are ranked by how often they were destinations in two epochs
/// (PreSC#2; GNNLab, EuroSys 2022, section 6.2).
struct HotCurves {
  std::vector<HitPoint> destinations;  ///< as HitCurve's points
  std::vector<HitPoint> edges;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("destinations", self.destinations);
    f.required("edges", self.edges);
  }
};

/// Parts of stages, for plans that omit a part or run it elsewhere. An unknown part of a stage's time is
/// estimated in proportion to the bytes that it reads.
struct StageParts {
  std::optional<double> cpu_sample_s{};     ///< part of cpu_batch that draws neighbours; the rest gathers
  std::optional<double> device_sample_s{};  ///< the same part of device_batch
  std::optional<double> device_sample_link_s{};  ///< part of device_batch_link_s that reads adjacency lists
  std::optional<double> biased_sample_ratio{};   ///< draws by weight (plan::Plan::bias) over uniform ones
  /// Host memory traffic of one batch; if unknown, stages that share memory are only slowed down by
  /// `Contention`.
  std::optional<double> cpu_batch_memory_bytes{};
  std::optional<double> transfer_memory_bytes{};
  std::optional<double> device_batch_memory_bytes{};
  std::optional<double> max_batch_bytes{};   ///< of the largest mini-batch, the size of a slot
  std::optional<double> activation_bytes{};  ///< peak device memory of training beyond batch and model
  /// One core: finding the hot vertices that a mini-batch will use (if unknown, part of refresh_s), and
  /// computing the bottom layer of a mini-batch of which all vertices are hot.
  std::optional<double> find_hot_s{};
  std::optional<double> refresh_s{};
  /// One core, beyond the time of a mini-batch in memory: what rows and lists of the disk take longer that
  /// are all in a cache in host memory.
  std::optional<double> disk_rows_s{};
  std::optional<double> disk_lists_s{};
  /// One core, of a mini-batch that was sampled ahead: deciding which rows an optimal cache holds.
  std::optional<double> cache_choices_s{};
  /// Copying a mini-batch without features over copying all of it.
  std::optional<double> structure_transfer_ratio{};
  /// Training after preparation that reads nothing over the link over training after one that reads all data
  /// over it: a core or a GPU that has waited is slower.
  std::optional<double> resident_train_ratio{};
  std::optional<double> fused_train_ratio{};  ///< training on stored rows over training on gathered rows
  /// The same of mini-batches that are drawn from a macro-batch, whose rows are read in place, and drawing
  /// them there over drawing them from the graph.
  std::optional<double> macro_train_ratio{};
  std::optional<double> macro_sample_ratio{};
  /// One core, for each edge that is sampled for a macro-batch: what it takes beside sampling and gathering
  /// as mini-batches do, which is mostly to make lists of the edges.
  std::optional<double> macro_edge_s{};
  /// One core, for each entry of the lists of a macro-batch's parts: finding its local id, with the halo.
  std::optional<double> halo_entry_s{};
  /// Mini-batches of one hop that reuse the embeddings of all vertices (plan::Reuse::all), over the job's:
  /// preparation by a CPU worker, and training with the pulls and pushes of embeddings.
  std::optional<double> one_hop_batch_ratio{};
  std::optional<double> one_hop_train_ratio{};
  std::optional<double> graphs_train_ratio{};  ///< training by recorded launches over launching one by one
  /// A GPU's preparation on measured_prepare_share of its thread slots over preparation on all of them.
  std::optional<double> prepare_share_ratio{};
  std::optional<double> parameter_bytes{};  ///< of the model's weights
  /// Of several devices on the host's cores, on one of them: the part of `train` that updates the weights,
  /// and the time per device to average gradients.
  std::optional<double> update_s{};
  std::optional<double> average_s{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("cpu_sample_s", self.cpu_sample_s, positive_or_unknown);
    f("device_sample_s", self.device_sample_s, positive_or_unknown);
    f("device_sample_link_s", self.device_sample_link_s, base::non_negative);
    f("biased_sample_ratio", self.biased_sample_ratio, positive_or_unknown);
    f("cpu_batch_memory_bytes", self.cpu_batch_memory_bytes, base::non_negative);
    f("transfer_memory_bytes", self.transfer_memory_bytes, base::non_negative);
    f("device_batch_memory_bytes", self.device_batch_memory_bytes, base::non_negative);
    f("max_batch_bytes", self.max_batch_bytes, positive_or_unknown);
    f("activation_bytes", self.activation_bytes, positive_or_unknown);
    f("find_hot_s", self.find_hot_s, positive_or_unknown);
    f("refresh_s", self.refresh_s, positive_or_unknown);
    f("disk_rows_s", self.disk_rows_s, base::non_negative);
    f("disk_lists_s", self.disk_lists_s, base::non_negative);
    f("cache_choices_s", self.cache_choices_s, base::non_negative);
    f("structure_transfer_ratio", self.structure_transfer_ratio, base::Range{0, 1, true});
    f("resident_train_ratio", self.resident_train_ratio, base::Range{0, 10, true});
    f("fused_train_ratio", self.fused_train_ratio, base::Range{0, 10, true});
    f("macro_train_ratio", self.macro_train_ratio, positive_or_unknown);
    f("macro_sample_ratio", self.macro_sample_ratio, positive_or_unknown);
    f("macro_edge_s", self.macro_edge_s, base::non_negative);
    f("halo_entry_s", self.halo_entry_s, positive_or_unknown);
    f("one_hop_batch_ratio", self.one_hop_batch_ratio, positive_or_unknown);
    f("one_hop_train_ratio", self.one_hop_train_ratio, positive_or_unknown);
    f("graphs_train_ratio", self.graphs_train_ratio, base::Range{0, 10, true});
    f("prepare_share_ratio", self.prepare_share_ratio, base::Range{0, 100, true});
    f("parameter_bytes", self.parameter_bytes, positive_or_unknown);
    f("update_s", self.update_s, base::non_negative);
    f("average_s", self.average_s, base::non_negative);
  }
};

/// Evaluating the model on the validation vertices, as training does after an epoch.
struct EvaluationProfile {
  std::optional<double> time_s{};  ///< on all cores; absent if it was not measured on this machine
  double host_bytes = 0;           ///< peak host memory of tensors

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("time_s", self.time_s, positive_or_unknown);
    f.required("host_bytes", self.host_bytes, base::non_negative);
  }
};

/// The work of one mini-batch's stages, by kind (batch_work() of stage_work.h).
struct BatchWork {
  std::vector<Amount> sampling;
  std::vector<Amount> gathering;
  std::vector<Amount> training;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("sampling", self.sampling);
    f.required("gathering", self.gathering);
    f.required("training", self.training);
  }
};

/// The parts of a store whose vertices are ordered by part (graph/partition/parts.h).
struct StoreParts {
  plan::Partitioner partitioner = plan::Partitioner::random;
  std::vector<std::int64_t> vertices;        ///< of each part
  std::vector<std::int64_t> edges;           ///< to each part's vertices
  std::vector<std::int64_t> train_vertices;  ///< of each part

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("partitioner", self.partitioner);
    f.required("vertices", self.vertices, base::non_negative);
    f.required("edges", self.edges, base::non_negative);
    f.required("train_vertices", self.train_vertices, base::non_negative);
  }
};

/// Mini-batches with smaller fanouts than the job's, relative to these: how times fall with sizes.
struct ThinBatch {
  double edges = 1;
  double vertices = 1;
  double cpu_batch = 1;  ///< time of preparation by one worker
  double train = 1;      ///< time of training

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("edges", self.edges, base::Range{0, 1});
    f.required("vertices", self.vertices, base::Range{0, 1});
    f.required("cpu_batch", self.cpu_batch, base::non_negative);
    f.required("train", self.train, base::non_negative);
  }
};

/// Mini-batches that reuse the first layer's rows of hot vertices (plan::Reuse::hot), relative to usual ones.
struct HotBatch {
  double edges = 1;         ///< that are sampled
  double device_batch = 1;  ///< time of preparation on the device
  double train = 1;         ///< time of training

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("edges", self.edges, base::Range{0, 1});
    f.required("device_batch", self.device_batch, base::non_negative);
    f.required("train", self.train, base::non_negative);
  }
};

/// Mini-batches whose seeds and neighbours are drawn among a share of the vertices, as from macro-batches of
/// whole parts, relative to mini-batches of as many seeds that are drawn from the graph.
struct ResidentBatch {
  double resident = 0;    ///< share of the vertices: of the store's parts, or else chosen at random
  double neighbours = 0;  ///< share of the list entries of drawn vertices that are resident
  double edges = 0;
  double vertices = 0;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("resident", self.resident, base::Range{0, 1});
    f.required("neighbours", self.neighbours, base::Range{0, 1});
    f.required("edges", self.edges, base::non_negative);
    f.required("vertices", self.vertices, base::non_negative);
  }
};

/// One workload (graph and job) on one machine.
struct WorkloadProfile {
  std::string graph;
  std::int64_t vertices = 0;
  std::int64_t edges = 0;
  std::optional<std::int64_t> max_degree{};
  std::int64_t feature_columns = 0;
  std::int64_t feature_row_bytes = 0;
  std::int64_t train_vertices = 0;
  plan::Job job;
  std::int64_t batches = 0;   ///< mini-batches of an epoch
  double batch_vertices = 0;  ///< means per mini-batch
  double batch_edges = 0;
  double batch_bytes = 0;  ///< copied by a transfer
  std::optional<BatchDeviations> batch_deviations{};
  StageTime cpu_batch;     ///< one worker
  StageTime transfer;      ///< 0 for a host device, which reads batches where they are
  StageTime device_batch;  ///< with one device thread on a host device
  StageTime train;         ///< with one device thread on a host device
  /// Part of device_batch that reads over the link (T_UVA); 0 without a link.
  double device_batch_link_s = 0;
  std::vector<ScalingPoint> worker_efficiency;  ///< w workers prepare w * value / cpu_batch.mean_s batches/s
  std::vector<ScalingPoint> cpu_batch_speedup;  ///< of a batch that a worker's threads share
  /// Of the sampling alone of such a batch, which scales worse than gathering; empty: as the whole.
  std::vector<ScalingPoint> cpu_sample_speedup;
  std::vector<ScalingPoint> train_speedup;  ///< train takes train.mean_s / value with that many threads
  std::vector<ScalingPoint> device_batch_speedup;
  StageParts parts;
  std::optional<EvaluationProfile> evaluation{};  ///< absent without validation vertices
  Accesses features;                              ///< of feature rows
  Accesses topology;                              ///< of adjacency lists
  std::optional<ListBlocks> list_blocks{};        ///< of a graph in a store
  std::optional<StoreParts> store_parts{};        ///< of a graph whose vertices are ordered by part
  std::vector<HopCounts> hops;                    ///< from the seeds outwards; empty if unknown
  std::optional<BatchWork> work{};  ///< absent in documents of earlier versions, where it is estimated
  std::optional<HotCurves> hot{};
  std::optional<HotBatch> hot_batch{};
  std::vector<ThinBatch> thin_batches;          ///< by ascending size; empty if unknown
  std::vector<ResidentBatch> resident_batches;  ///< by ascending share; empty if unknown

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("graph", self.graph);
    f("vertices", self.vertices, base::non_negative);
    f("edges", self.edges, base::non_negative);
    f("max_degree", self.max_degree, positive_or_unknown);
    f("feature_columns", self.feature_columns, base::non_negative);
    f("feature_row_bytes", self.feature_row_bytes, base::non_negative);
    f("train_vertices", self.train_vertices, base::non_negative);
    f("job", self.job);
    f.required("batches", self.batches, base::Range{1, 1e9});
    f("batch_vertices", self.batch_vertices, base::non_negative);
    f("batch_edges", self.batch_edges, base::non_negative);
    f("batch_bytes", self.batch_bytes, base::non_negative);
    f("batch_deviations", self.batch_deviations);
    f.required("cpu_batch", self.cpu_batch);
    f.required("transfer", self.transfer);
    f.required("device_batch", self.device_batch);
    f.required("train", self.train);
    f("device_batch_link_s", self.device_batch_link_s, base::non_negative);
    f("worker_efficiency", self.worker_efficiency);
    f("cpu_batch_speedup", self.cpu_batch_speedup);
    f("cpu_sample_speedup", self.cpu_sample_speedup);
    f("train_speedup", self.train_speedup);
    f("device_batch_speedup", self.device_batch_speedup);
    f("parts", self.parts);
    f("evaluation", self.evaluation);
    f("features", self.features);
    f("topology", self.topology);
    f("list_blocks", self.list_blocks);
    f("store_parts", self.store_parts);
    f("hops", self.hops);
    f("work", self.work);
    f("hot", self.hot);
    f("hot_batch", self.hot_batch);
    f("thin_batches", self.thin_batches);
    f("resident_batches", self.resident_batches);
  }
};

/// Ratio of measured to predicted time of a stage in real runs.
struct Correction {
  double ratio = 1;
  double standard_error = 0;  ///< of the ratio
  std::int64_t batches = 0;   ///< measured

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("ratio", self.ratio, base::Range{0.01, 100});
    f.required("standard_error", self.standard_error, base::non_negative);
    f.required("batches", self.batches, base::Range{1, 1e12});
  }
};

/// Corrections from real runs, for the stages in those runs. The predicted times, of the same plans, are the
/// times alone including contention.
struct Corrections {
  std::optional<Correction> cpu_batch{};
  std::optional<Correction> transfer{};
  std::optional<Correction> device_batch{};
  std::optional<Correction> train{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("cpu_batch", self.cpu_batch);
    f("transfer", self.transfer);
    f("device_batch", self.device_batch);
    f("train", self.train);
  }
};

/// Returns the ratio to predict with: 1 if the stage was not measured.
inline double ratio_of(const std::optional<Correction>& correction) {
  return correction ? correction->ratio : 1.0;
}

/// The profile document, written by `gnomon profile` and read by all predictions.
struct Profile {
  static constexpr std::string_view schema = "gnomon.profile/1";
  MachineProfile machine;
  WorkloadProfile workload;
  double asked_interval = 0.02;  ///< asked half width of the confidence intervals, relative to the mean
  double time_limit_s = 0;
  std::string stopped_by;                       ///< "interval" or "time_limit"
  std::optional<base::OtherLoad> other_load{};  ///< load by others during the measurement; none if unknown
  std::optional<Corrections> corrections{};     ///< factors of the simulated stage times
  std::optional<double> prediction_error{};  ///< relative standard error of predicted epochs, from real runs
  /// Of the machine, apart from this job, by which the profile can be moved to another; none in documents of
  /// earlier versions and where no document of the machine was at hand.
  std::optional<MachineSpeeds> machine_speeds{};

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("machine", self.machine);
    f.required("workload", self.workload);
    f("asked_interval", self.asked_interval, base::Range{0, 1});
    f("time_limit_s", self.time_limit_s, base::non_negative);
    f("stopped_by", self.stopped_by);
    f("other_load", self.other_load);
    f("corrections", self.corrections);
    f("prediction_error", self.prediction_error, base::Range{0, 10});
    f("machine_speeds", self.machine_speeds);
  }
};

/// Throws InputError if fields contradict each other (a link part longer than its stage, scaling points that
/// do not rise …).
void check(const Profile& profile, const std::string& where);

/// Removes values that earlier versions wrote for unmeasured slowdowns: 1 divided by the fair share of an
/// oversubscribed CPU. Their documents are recognised by having all slowdowns; the current profiler omits
/// those that do not apply to the kind of device.
void forget_unmeasured(Profile& profile);

/// Reads a profile, calls forget_unmeasured() and checks the result. Throws InputError.
Profile read_profile(const std::filesystem::path& path);

/// Returns the number of physical cores, or 0 if unknown. If a document's `cores` exceeds the cores that were
/// counted, the others are assumed to have as many hardware threads per core.
int physical_cores_of(const Cpu& cpu);

/// Returns the cores and devices for resolving plans.
inline plan::Cores cores_of(const Profile& profile) {
  return {profile.machine.cpu.cores, profile.machine.device.kind, profile.machine.device.count,
          physical_cores_of(profile.machine.cpu)};
}

}  // namespace gnomon::profiles
