#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "plan/vocabulary.h"

namespace gnomon::plan {

/// A copy of hot data nearer to where it is used.
struct Cache {
  CachePolicy policy = CachePolicy::none;
  bool features = true;       ///< feature rows
  bool topology = false;      ///< adjacency lists
  Home place = Home::device;  ///< `host`: in front of the disk
  double budget = 1;          ///< share of the memory there that nothing else needs
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

/// Embeddings that are used for longer than the batch they were computed for.
struct Embeddings {
  Reuse reuse = Reuse::none;
  double hot_ratio = 0.2;  ///< reuse "hot": share of the vertices, the most visited first

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("reuse", self.reuse);
    f("hot_ratio", self.hot_ratio, base::Range{0, 1});
  }
  bool operator==(const Embeddings&) const = default;
};

/// The outer loop of schedule "macro_batch": `resident` of `partitions` parts of the graph at a time, read
/// whole (or, where the graph is in host memory, sampled whole) while the one before is trained from.
struct Macro {
  int partitions = 32;
  int resident = 4;
  int passes = 1;        ///< at most so many over a resident macro-batch while the next one is late
  double hub_ratio = 0;  ///< share of the vertices that always stay resident
  Partitioner partitioner = Partitioner::random;
  bool sampled_ahead = false;  ///< batches' structure is drawn first and only what they touch is shipped

  template <class Self, class Fields>
  static void fields(Self& self, Fields& f) {
    f("partitions", self.partitions, base::Range{1, 1 << 20});
    f("resident", self.resident, base::Range{1, 1 << 20});
    f("passes", self.passes, base::Range{1, 64});
    f("hub_ratio", self.hub_ratio, base::Range{0, 1});
    f("partitioner", self.partitioner);
    f("sampled_ahead", self.sampled_ahead);
  }
  bool operator==(const Macro&) const = default;
};

/// Everything a system decides about *how* mini-batches are prepared and trained. Which mini-batches these
/// are is the Job's (plan/job.h): a plan changes the speed, never the training, unless it says `"exact":
/// false`.
struct Plan {
  static constexpr std::string_view schema = "gnomon.plan/1";

  std::string name;    ///< what tables call it
  std::string source;  ///< the paper and section it follows
  Schedule schedule = Schedule::sequential;
  Route route = Route::cpu;
  Gather gather = Gather::sampler;
  Order order = Order::index;
  bool exact = true;       ///< sees the same mini-batches as every other exact plan
  int workers = 0;         ///< CPU workers; 0: what the machine's cores allow (resolve)
  int worker_threads = 1;  ///< that share each of a worker's mini-batches
  int cpu_buffer = 2;      ///< finished mini-batches the host holds beside those in the workers' hands
  int device_buffer = 2;   ///< mini-batches the device holds beside the one in training
  int look_ahead = 0;      ///< claim_ahead: a worker claims at least this far ahead of the training head; 0:
                           ///< as far as the epoch's stage times ask for
  bool copy_during_device_batch =
      false;                ///< whether copies may start while the device reads host memory to prepare
  int handover_copies = 0;  ///< extra host copies of each CPU batch (worker processes hand over by copying)
  int device_threads =
      0;  ///< threads of a host device (no GPU) for its kernels; 0: what the machine's cores allow

  Pinning pinning = Pinning::none;
  Placement placement = Placement::first_touch;

  int devices = 1;  ///< that train one batch each a step and average their gradients; 0: all there are
  std::int64_t device_memory_bytes = 0;  ///< that may be taken of each GPU's memory; 0: all there is
  int samplers = 0;           ///< factored: devices that sample; 0: as many as the stages' times ask for
  bool switch_roles = false;  ///< factored: a sampler trains while too many samples wait
  double cpu_share = 0.5;     ///< mixed: probability with which a batch comes by the CPU route
  double prepare_share = 0;  ///< share of the device's multiprocessors that prepares batches beside training;
                             ///< 0: preparing and training take turns
  Home topology = Home::host;  ///< where adjacency lists live
  Home features = Home::host;  ///< where feature rows live
  Cache cache;
  bool unaligned_reads = false;  ///< zero-copy reads that do not begin at whole 128-byte lines
  double bias = 1;               ///< how much likelier a cached neighbour is drawn than another
  Embeddings embeddings;
  int super_batch = 1;  ///< batches that are prepared together
  Macro macro;
  bool fused = false;  ///< the first layer reads features where they are stored: nothing gathers them

  bool uses_cpu_route() const { return route != Route::device; }
  bool uses_device_route() const { return route != Route::cpu; }
  /// Whether CPU workers have anything to do: by the route, or beside it.
  bool uses_workers() const {
    return uses_cpu_route() || embeddings.reuse == Reuse::hot ||
           (schedule == Schedule::macro_batch && features == Home::host);
  }
  /// Whether batches are prepared without features, which are for the device that trains to get.
  bool prepares_samples() const { return gather == Gather::trainer || fused; }
  /// Whether it gets them by a stage of its own.
  bool gathers_apart() const { return gather == Gather::trainer && !fused; }
  /// Whether the device prepares a batch while it trains another.
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
  }
  bool operator==(const Plan&) const = default;
};

/// Whether a plan changes which mini-batches are trained, or with which embeddings: then it is not exact.
bool changes_training(const Plan& plan);

/// Whether batch i is update i, whatever the timing: then its weights are those of every other such plan.
bool trains_in_order(const Plan& plan);

/// Throws InputError, naming `where` and the field, when the fields contradict each other.
void check(const Plan& plan, const std::string& where);

/// Why the runtime cannot execute a plan yet, as one line that names the field; empty when it can.
/// `host_device`: there is no GPU, the device is threads of the host. The simulator runs every plan.
std::string why_simulated_only(const Plan& plan, bool host_device = true);

/// What a plan runs on. `host_device`: there is no GPU, the device is threads of the same cores.
struct Cores {
  int count = 1;
  bool host_device = true;
  int devices = 1;
};

/// Fills in workers, device_threads and devices where they are 0. Throws InputError when the plan asks for
/// more workers, device threads or devices than there are.
Plan resolve(Plan plan, const Cores& cores, const std::string& where);

/// Reads and checks a plan file. Throws InputError.
Plan read_plan(const std::filesystem::path& path);

/// A preset by name ("salient") or, when `name` ends in .json, a plan file. Throws InputError that lists the
/// presets.
Plan find_plan(const std::string& name);

/// The presets built into the program, in the order of their names.
std::vector<Plan> presets();

/// Those of them that the runtime can execute.
std::vector<Plan> runnable_presets(bool host_device = true);

}  // namespace gnomon::plan
