#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "plan/abilities.h"
#include "plan/vocabulary.h"

namespace gnomon::plan {

/// What a cache in a device's memory leaves free beside the memory that training and waiting mini-batches
/// need, as a share of that.
inline constexpr double cache_reserve = 0.35;

/// Copies of frequently used data, closer to their users.
struct Cache {
  CachePolicy policy = CachePolicy::none;
  bool features = true;       ///< holds feature rows
  bool topology = false;      ///< holds adjacency lists
  Home place = Home::device;  ///< `host`: a cache of the disk
  double budget = 1;          ///< share of the free memory there; with bias above 1, of the vertices
  bool sharded = false;       ///< linked devices hold different parts and read from each other

  bool is_used() const { return policy != CachePolicy::none && (features || topology); }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("policy", self.policy);
    f("features", self.features);
    f("topology", self.topology);
    f("place", self.place);
    f("budget", self.budget, base::Range{0, 1});
    f("sharded", self.sharded);
  }
  bool operator==(const Cache&) const = default;
};

/// Embeddings that later mini-batches reuse.
struct Embeddings {
  Reuse reuse = Reuse::none;
  double hot_ratio = 0.2;  ///< reuse "hot": share of the vertices, most visited first

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("reuse", self.reuse);
    f("hot_ratio", self.hot_ratio, base::Range{0, 1});
  }
  bool operator==(const Embeddings&) const = default;
};

/// The outer loop of schedule "macro_batch": a macro-batch is `resident` of the graph's `partitions` parts.
/// The next one is read from the disk (or, if the graph is in host memory, sampled) while mini-batches are
/// drawn from the resident one.
struct Macro {
  int partitions = 32;
  int resident = 4;
  int passes = 1;        ///< maximum number of passes over a macro-batch while the next one is being loaded
  double hub_ratio = 0;  ///< share of the vertices that are always resident
  Partitioner partitioner = Partitioner::random;
  bool sampled_ahead = false;  ///< mini-batches are sampled first, and only the rows they use are copied
  /// A macro-batch sampled in memory has this many times the job's fanouts, so that mini-batches find more
  /// neighbours in it than they draw.
  int fanout_factor = 1;

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("partitions", self.partitions, base::Range{1, 1 << 20});
    f("resident", self.resident, base::Range{1, 1 << 20});
    f("passes", self.passes, base::Range{1, 64});
    f("hub_ratio", self.hub_ratio, base::Range{0, 1});
    f("partitioner", self.partitioner);
    f("sampled_ahead", self.sampled_ahead);
    f("fanout_factor", self.fanout_factor, base::Range{1, 1024});
  }
  bool operator==(const Macro&) const = default;
};

/// How mini-batches are prepared, moved and trained. What is trained is in the Job (plan/job.h): a plan
/// changes the speed, never the result, unless it says `"exact": false`. How fields interact is defined in
/// plan/rules.h.
struct Plan {
  static constexpr std::string_view schema = "gnomon.plan/1";

  std::string name;    ///< the name in tables
  std::string source;  ///< the paper and section that the plan follows
  Schedule schedule = Schedule::sequential;
  Route route = Route::cpu;
  Gather gather = Gather::sampler;
  Order order = Order::index;
  bool exact = true;       ///< trains the same mini-batches as every other exact plan
  int workers = 0;         ///< CPU workers; 0: as many as the machine's cores allow (resolve)
  int worker_threads = 1;  ///< threads of each worker, which prepare one mini-batch together
  int cpu_buffer = 2;      ///< finished mini-batches that wait in host memory
  int device_buffer = 2;   ///< mini-batches that wait on the device
  /// Schedule claim_ahead: the minimum distance, in mini-batches, between a batch that a worker claims and
  /// the batch in training; 0: derived from the epoch's stage times.
  int look_ahead = 0;
  /// Whether copies may start while the device reads host memory to prepare a mini-batch.
  bool copy_during_device_batch = false;
  int handover_copies = 0;  ///< additional host copies of each CPU batch, as between worker processes
  int device_threads = 0;   ///< threads of a host device's kernels; 0: as many as the machine's cores allow

  Pinning pinning = Pinning::none;
  Placement placement = Placement::first_touch;

  /// Data-parallel devices: each trains one mini-batch in a step, and gradients are averaged; 0: all devices.
  int devices = 1;
  std::int64_t device_memory_bytes = 0;  ///< maximum memory to use of each GPU; 0: all of it
  int samplers = 0;           ///< schedule factored: devices that sample; 0: derived from the stage times
  bool switch_roles = false;  ///< schedule factored: a sampler trains while the queue of samples is too long
  double cpu_share = 0.5;     ///< schedule mixed: probability that a mini-batch takes the CPU route
  /// Maximum share of the device's thread slots that preparing mini-batches beside training occupies, spread
  /// over all of its multiprocessors; 0: it alternates between the two.
  double prepare_share = 0;
  Home topology = Home::host;  ///< where adjacency lists are stored
  Home features = Home::host;  ///< where feature rows are stored
  Cache cache;
  bool unaligned_reads = false;  ///< zero-copy reads are not aligned to 128-byte lines
  double bias = 1;               ///< weight of a cached neighbour in draws, relative to the others
  Embeddings embeddings;
  int super_batch = 1;  ///< mini-batches that are prepared together
  Macro macro;
  bool fused = false;  ///< the first layer reads features where they are stored, without a gathered copy
  /// Whether a GPU replays the recorded launches of a training step (a CUDA graph) on mini-batches that are
  /// padded to one size, learned in the first epoch.
  bool graphs = false;

  bool uses_cpu_route() const { return route != Route::device; }
  bool uses_device_route() const { return route != Route::cpu; }
  /// Whether CPU workers prepare mini-batches, refresh embeddings or sample macro-batches.
  bool uses_workers() const {
    return uses_cpu_route() || embeddings.reuse == Reuse::hot ||
           (schedule == Schedule::macro_batch && features == Home::host);
  }
  /// Whether mini-batches are prepared without features, which the training device gathers or reads in place.
  bool prepares_samples() const { return gather == Gather::trainer || fused; }
  /// Whether the training device gathers them in a stage of its own.
  bool gathers_apart() const { return gather == Gather::trainer && !fused; }
  /// The mini-batches that wait in a device's memory beside the one in training.
  std::int64_t batches_ahead_on_device() const {
    return schedule == Schedule::sequential    ? 0
           : schedule == Schedule::super_batch ? super_batch - 1
                                               : device_buffer;
  }
  /// Whether the device prepares a mini-batch while it trains another.
  bool prepares_beside_training() const { return prepare_share > 0; }

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f.required("name", self.name);
    f("source", self.source);
    f.required("schedule", self.schedule);
    f.required("route", self.route);
    f("gather", self.gather);
    f("order", self.order);
    f("exact", self.exact);
    f("workers", self.workers, base::Range{0, 4096});
    f("worker_threads", self.worker_threads, base::Range{1, 256});
    f("cpu_buffer", self.cpu_buffer, base::Range{1, 4096});
    f("device_buffer", self.device_buffer, base::Range{1, 4096});
    f("look_ahead", self.look_ahead, base::Range{0, 1 << 20});
    f("copy_during_device_batch", self.copy_during_device_batch);
    f("handover_copies", self.handover_copies, base::Range{0, 4});
    f("device_threads", self.device_threads, base::Range{0, 4096});
    f("pinning", self.pinning);
    f("placement", self.placement);
    f("devices", self.devices, base::Range{0, 64});
    f("device_memory_bytes", self.device_memory_bytes, base::Range{0, 1e15});
    f("samplers", self.samplers, base::Range{0, 63});
    f("switch_roles", self.switch_roles);
    f("cpu_share", self.cpu_share, base::Range{0, 1});
    f("prepare_share", self.prepare_share, base::Range{0, 0.95});
    f("topology", self.topology);
    f("features", self.features);
    f("cache", self.cache);
    f("unaligned_reads", self.unaligned_reads);
    f("bias", self.bias, base::Range{1, 1e6});
    f("embeddings", self.embeddings);
    f("super_batch", self.super_batch, base::Range{1, 4096});
    f("macro", self.macro);
    f("fused", self.fused);
    f("graphs", self.graphs);
  }
  bool operator==(const Plan&) const = default;
};

/// Whether the CPU samples the plan's macro-batches from the graph in host memory.
bool samples_macro_batches(const Plan& plan);

/// The fanouts by which macro-batches are sampled: Macro::fanout_factor times the job's, where -1 (all
/// neighbours) stays -1.
std::vector<int> macro_fanouts(std::vector<int> fanouts, const Macro& macro);

/// The threads that prepare mini-batches on a device that runs on the host's cores: all of its threads, or
/// prepare_share of them, at least one, where it prepares beside training. `plan` is resolved.
int preparing_threads(const Plan& plan);

/// Whether a plan changes which mini-batches are trained, or with which embeddings, so that it is not exact.
bool changes_training(const Plan& plan);

/// Whether mini-batch i is update i whatever the timing. exactness_of() says whether the weights are then the
/// same bits as those of other plans.
bool trains_in_order(const Plan& plan);

/// Throws InputError that names `where` and the field if fields contradict each other.
void check(const Plan& plan, const std::string& where);

/// The first field whose value a device with these abilities does not execute, and the value, as in
/// `topology "device"`; empty if it executes the plan. The simulator executes every plan.
std::string why_not_executed(const Plan& plan, const Abilities& device);

/// The same as a sentence that also names the kinds of devices that execute it, if any: "this device does not
/// execute …".
std::string refusal_of(const Plan& plan, const Abilities& device);

/// Throws InputError that names `where` and the field if a device with these abilities does not execute the
/// plan.
void check_executed(const Plan& plan, const Abilities& device, const std::string& where);

/// The hardware that a plan runs on.
struct Cores {
  int count = 1;
  DeviceKind device = DeviceKind::host;
  int devices = 1;
  /// Physical cores among them; their other hardware threads share the same arithmetic units. 0: unknown, so
  /// every core counts as physical.
  int physical = 0;

  /// The cores that workers and device threads share if a plan does not specify their numbers.
  int to_share() const { return physical > 0 ? std::min(physical, count) : count; }
};

/// Fills in workers, device_threads and devices where they are 0. Throws InputError if the plan requires more
/// workers, device threads or devices than `cores` has.
Plan resolve(Plan plan, const Cores& cores, const std::string& where);

/// Reads and checks a plan file. Throws InputError.
Plan read_plan(const std::filesystem::path& path);

/// A preset by name ("salient") or, if `name` ends in .json, a plan file. Throws InputError that lists the
/// presets.
Plan find_plan(const std::string& name);

/// The presets built into the program, sorted by name.
std::vector<Plan> presets();

/// The presets that a device with these abilities executes.
std::vector<Plan> runnable_presets(const Abilities& device = abilities_of(DeviceKind::host));

}  // namespace gnomon::plan
