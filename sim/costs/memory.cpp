#include "sim/costs/memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "kernels/block.h"
#include "kernels/cpu/sample/topology.h"
#include "kernels/cpu/sample/worker_memory.h"
#include "plan/disk_plans.h"
#include "plan/host_cache.h"
#include "sim/costs/hops.h"
#include "sim/costs/macro_read.h"
#include "sim/costs/macro_sample.h"
#include "sim/costs/one_hop.h"

namespace gnomon::sim {
namespace {

using plan::Home;
using plan::Plan;
using plan::Reuse;
using plan::Schedule;
using profiles::WorkloadProfile;

static_assert(sizeof(decltype(kernels::Block::indices)::value_type) == local_id_bytes);

/// Weights, gradients and Adam's two moments.
constexpr double copies_of_weights = 4;

/// The share of the graph that macro-batches hold: the resident set, the one being loaded, and the hubs.
double resident_share(const Plan& plan) {
  const double part = static_cast<double>(plan.macro.resident) / plan.macro.partitions;
  return std::min(1.0, 2 * part + plan.macro.hub_ratio);
}

/// The same of a store's topology and features: of the two largest neighbours in some epochs.
struct HeldShares {
  double topology = 0, features = 0;
};
HeldShares held_shares(const WorkloadProfile& workload, const Plan& plan) {
  constexpr std::uint64_t epochs = 3;
  const double all_features = features_bytes(workload);
  const double all_lists = stored_topology_bytes(workload);
  HeldShares held;
  double most = 0;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto reads = macro_reads(workload, plan.macro, epoch);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const auto& next = reads[(i + 1) % reads.size()];
      if (const double bytes = reads[i].bytes + next.bytes; bytes > most) {
        most = bytes;
        const double features = reads[i].feature_bytes + next.feature_bytes;
        held = {(bytes - features) / all_lists, all_features > 0 ? features / all_features : 0};
      }
    }
  }
  return {std::min(1.0, held.topology + plan.macro.hub_ratio),
          std::min(1.0, held.features + plan.macro.hub_ratio)};
}

bool is_by_parts(const Plan& plan) { return plan.schedule == Schedule::macro_batch; }

/// Two macro-batches that the CPU samples, the resident one and the one being prepared, with the arrays of
/// runtime/macro/macro_batch.h: a row, an id, a row pointer and a degree of each vertex, and its list.
double sampled_macro_batches(const WorkloadProfile& workload, const Plan& plan) {
  const auto sample = macro_sample(workload, plan);
  const double vertex_bytes = static_cast<double>(workload.feature_row_bytes) + 3 * sizeof(std::int64_t);
  return 2 * (sample.vertices * vertex_bytes + sample.edges * local_id_bytes);
}

/// Embeddings of that many vertices on every hidden layer.
double embeddings(const WorkloadProfile& workload, double vertices) {
  const double layers = std::max(1, workload.job.layers() - 1);
  return vertices * workload.job.hidden * value_bytes * layers;
}

double embeddings_on_host(const WorkloadProfile& workload, const Plan& plan) {
  const auto vertices = static_cast<double>(workload.vertices);
  switch (plan.embeddings.reuse) {
    case Reuse::none:
      return 0;
    case Reuse::hot:
      return hot_use_of(workload, plan).computed * hot_row_bytes(workload);
    case Reuse::halo:
      return embeddings(workload, vertices);
    case Reuse::all:
      break;
  }
  constexpr double age_bytes = sizeof(std::int64_t);  // the update count of a vertex's rows
  return embeddings(workload, vertices) + vertices * age_bytes;
}

/// Whether some devices only sample, and hold the topology, and the others only train, and hold the cache.
bool divides_roles(const Plan& plan) { return plan.schedule == Schedule::factored && plan.devices > 1; }

/// Whether the cache's size is a fixed share of all rows, independent of free memory, because draws are
/// biased.
bool has_preferred_rows(const Plan& plan) {
  return plan.bias > 1 && plan.cache.is_used() && plan.cache.features;
}

double preferred_hit_share(const WorkloadProfile& workload, const Plan& plan) {
  return biased_hit_share(hit_share(workload.features, plan.cache.policy, plan.cache.budget), plan.bias);
}

/// The memory of a slot, with or without feature rows: that of the largest mini-batch if known, because slots
/// keep their memory.
double slot_bytes(const WorkloadProfile& workload, const Plan& plan, bool with_features) {
  const auto hop = plan.embeddings.reuse == Reuse::all ? one_hop(workload) : OneHop{};
  const double features = workload.batch_vertices * static_cast<double>(workload.feature_row_bytes);
  const double bare = hop.edges * std::max(0.0, workload.batch_bytes - features);
  const double mean = bare + (with_features ? hop.vertices * std::min(features, workload.batch_bytes) : 0);
  const auto largest = workload.parts.max_batch_bytes;
  return largest && workload.batch_bytes > 0 ? mean * std::max(1.0, *largest / workload.batch_bytes) : mean;
}

/// Slots of the CPU route, and of the device; at most the number of mini-batches.
double host_slots(const WorkloadProfile& workload, const Plan& plan) {
  const std::int64_t slots = plan.uses_cpu_route() ? plan.workers + plan.cpu_buffer : 0;
  return static_cast<double>(std::min(slots, workload.batches));
}

double device_slots(const WorkloadProfile& workload, const Plan& plan) {
  return static_cast<double>(std::min(1 + plan.batches_ahead_on_device(), workload.batches));
}

/// If the trainer gathers, only the batch in training has features, and also the next one if features are
/// gathered beside training.
double device_slots_bytes(const WorkloadProfile& workload, const Plan& plan) {
  const double slots = device_slots(workload, plan);
  const double gathered = plan.fused             ? 0
                          : plan.gathers_apart() ? std::min(slots, divides_roles(plan) ? 2.0 : 1.0)
                                                 : slots;
  return gathered * slot_bytes(workload, plan, true) + (slots - gathered) * slot_bytes(workload, plan, false);
}

/// A slot of the CPU route, without cached rows if draws are biased.
double host_slot_bytes(const WorkloadProfile& workload, const Plan& plan, bool has_device) {
  const double bare = slot_bytes(workload, plan, false);
  if (plan.prepares_samples()) {
    return bare;
  }
  const double rows = slot_bytes(workload, plan, true) - bare;
  const double hits = has_device && has_preferred_rows(plan) ? preferred_hit_share(workload, plan) : 0;
  return bare + (1 - hits) * rows;
}

double row_pointer_bytes(const WorkloadProfile& workload) {
  return sizeof(std::int64_t) * (static_cast<double>(workload.vertices) + 1);
}

/// The arrays that each worker reads from the disk for its mini-batches.
int readers_of(const Plan& plan) { return is_by_parts(plan) ? 0 : plan::arrays_on_disk(plan); }

MemoryBreakdown on_host(const profiles::Profile& profile, const Plan& plan) {
  const WorkloadProfile& workload = profile.workload;
  const auto on_disk = is_by_parts(plan) ? held_shares(workload, plan) : HeldShares{};
  const auto share = [](Home home, double held) {
    return home == Home::host ? 1 : home == Home::disk ? held : 0;
  };
  MemoryBreakdown use;
  use.topology_bytes = share(plan.topology, on_disk.topology) * topology_bytes(workload);
  use.features_bytes = share(plan.features, on_disk.features) * features_bytes(workload);
  if (plan.topology == Home::disk && !is_by_parts(plan)) {
    use.topology_bytes = row_pointer_bytes(workload);
  }
  const double each = host_slot_bytes(workload, plan, plan::has_link(profile.machine.device.kind));
  if (plan.uses_cpu_route()) {
    use.batches_bytes = host_slots(workload, plan) * each;
    use.samplers_bytes = (plan::looks_ahead(plan) ? 2 : 1) * plan.workers *
                         sampler_bytes(workload, plan.worker_threads).value_or(0);
    use.samplers_bytes += plan.workers * readers_of(plan) * static_cast<double>(plan::disk_reader_bytes);
  }
  use.contexts_bytes = profile.machine.cpu.runtime_bytes.value_or(0);
  if (plan.handover_copies > 0) {  // worker processes, each with a copy of its mini-batch
    use.batches_bytes += plan.workers * plan.handover_copies * each;
    use.contexts_bytes += plan.workers * profile.machine.cpu.process_bytes;
  }
  use.embeddings_bytes = embeddings_on_host(workload, plan);
  return use;
}

/// Device memory without the cache; with divided roles, of a trainer.
MemoryBreakdown on_device(const profiles::Profile& profile, const Plan& plan) {
  const WorkloadProfile& workload = profile.workload;
  const bool samples_macro = plan::samples_macro_batches(plan);
  const bool holds_part = is_by_parts(plan) && plan.route == plan::Route::device && !samples_macro;
  const auto share = [&](Home home) {
    return home == Home::device ? 1 : holds_part ? resident_share(plan) : 0;
  };
  MemoryBreakdown use;
  use.topology_bytes = divides_roles(plan) ? 0 : share(plan.topology) * topology_bytes(workload);
  use.features_bytes = share(plan.features) * features_bytes(workload);
  use.batches_bytes =
      device_slots_bytes(workload, plan) + (samples_macro ? sampled_macro_batches(workload, plan) : 0);
  // Unless measured: each layer's output and its gradient; the layers shrink by the fanouts.
  use.activations_bytes = workload.parts.activation_bytes.value_or(2 * workload.batch_vertices *
                                                                   workload.job.hidden * value_bytes);
  if (plan.graphs) {  // a recorded step has a mini-batch and activations of its own
    use.batches_bytes += slot_bytes(workload, plan, true);
    use.activations_bytes *= 2;
  }
  use.model_bytes = copies_of_weights * parameters_bytes(workload);
  if (plan.embeddings.reuse == Reuse::hot) {  // current and next rows
    use.embeddings_bytes = 2 * hot_use_of(workload, plan).computed * hot_row_bytes(workload);
  } else if (plan.embeddings.reuse == Reuse::all) {  // the rows of a mini-batch
    const double seeds = static_cast<double>(workload.job.batch_size);
    use.embeddings_bytes = embeddings(workload, one_hop(workload).halo + seeds);
  }
  use.contexts_bytes = profile.machine.device.context_bytes;
  return use;
}

/// The memory of a sampling device, which may switch to training.
MemoryBreakdown on_sampler(const profiles::Profile& profile, const Plan& plan) {
  MemoryBreakdown use = plan.switch_roles ? on_device(profile, plan) : MemoryBreakdown{};
  use.topology_bytes = plan.topology == Home::device ? topology_bytes(profile.workload) : 0;
  use.batches_bytes = slot_bytes(profile.workload, plan, true);
  use.contexts_bytes = profile.machine.device.context_bytes;
  return use;
}

/// Devices that each hold a part of the cache.
int shards(const profiles::Profile& profile, const Plan& plan) {
  const bool linked = plan.cache.sharded && profile.machine.peers.bandwidth_bytes_per_s > 0;
  return linked ? std::max(1, std::min(plan.devices, profile.machine.peers.clique)) : 1;
}

/// The maximum size of the cache, and its share in each memory.
void add_cache(const profiles::Profile& profile, const Plan& plan, const CacheGains& gains,
               std::optional<double> memory_bytes, MemoryBreakdown& use, CacheShares& shares) {
  if (has_preferred_rows(plan)) {
    shares.features = plan.cache.budget;
    use.cache_bytes = plan.cache.budget * features_bytes(profile.workload);
    return;
  }
  if (!memory_bytes) {
    return;
  }
  const double free_bytes = *memory_bytes - use.total() - cache_reserve_bytes(use);
  const double room = std::max(0.0, free_bytes) * plan.cache.budget;
  const int parts = shards(profile, plan);
  shares = fill_cache(profile.workload, plan.cache.policy, gains, room * parts);
  use.cache_bytes = (shares.features * gains.feature_bytes + shares.topology * gains.topology_bytes) / parts;
}

/// The size of a disk cache: equal shares of rows and lists, minus the lookup structures.
void add_host_cache(const profiles::Profile& profile, const Plan& plan, Memory& memory) {
  const WorkloadProfile& workload = profile.workload;
  if (!profile.machine.cpu.memory_bytes) {
    return;
  }
  const double list_bytes = plan.cache.topology && plan.topology == Home::disk
                                ? stored_topology_bytes(workload) - row_pointer_bytes(workload)
                                : 0;
  const double row_bytes = plan.cache.features && plan.features == Home::disk ? features_bytes(workload) : 0;
  const double taken = memory.host.total() + memory.evaluation_bytes.value_or(0);
  const double room = std::max(0.0, *profile.machine.cpu.memory_bytes - taken) * plan.cache.budget;
  const double share = list_bytes + row_bytes > 0 ? room / (list_bytes + row_bytes) : 0;
  if (row_bytes > 0) {
    const auto rows = plan::host_cache_rows(plan.cache.policy, share * row_bytes, workload.vertices,
                                            workload.feature_row_bytes);
    memory.cached.features = static_cast<double>(rows) / static_cast<double>(workload.vertices);
  }
  if (list_bytes > 0) {
    const auto block_bytes = static_cast<std::int64_t>(
        workload.list_blocks ? workload.list_blocks->block_bytes : profile.machine.disk.block_bytes);
    const auto blocks = static_cast<std::int64_t>(list_bytes) / block_bytes + 1;
    memory.cached.topology =
        static_cast<double>(plan::host_cache_blocks(share * list_bytes, blocks, block_bytes)) /
        static_cast<double>(blocks);
  }
  // All of the budget, unless everything fits.
  const double all_bytes = memory.cached.features * row_bytes + memory.cached.topology * list_bytes;
  const bool holds_all =
      (row_bytes == 0 || memory.cached.features >= 1) && (list_bytes == 0 || memory.cached.topology >= 1);
  memory.host.cache_bytes = holds_all ? std::min(all_bytes, room) : room;
}

/// The device memory that the plan may use.
std::optional<double> device_memory_bytes(const profiles::Profile& profile, const Plan& plan) {
  const auto there = profile.machine.device.memory_bytes;
  if (plan.device_memory_bytes == 0) {  // the plan sets no limit
    return there;
  }
  const auto allowed = static_cast<double>(plan.device_memory_bytes);
  return there ? std::min(*there, allowed) : allowed;
}

/// The memory of evaluation in excess of the tensors of a training step.
std::optional<double> evaluation_bytes(const WorkloadProfile& workload, const MemoryBreakdown& host) {
  const auto& evaluation = workload.evaluation;
  return evaluation ? std::optional(std::max(0.0, evaluation->host_bytes - host.activations_bytes))
                    : std::nullopt;
}

/// A cache that fills the free memory never causes a shortage. `beside` is needed in addition to `use`.
void note_shortage(Memory& memory, Shortage shortage, const Plan& plan, const MemoryBreakdown& use,
                   std::optional<double> there, double beside = 0) {
  const double needed = use.total() + beside - (has_preferred_rows(plan) ? 0 : use.cache_bytes);
  if (memory.shortage == Shortage::none && there && needed > *there) {
    memory.shortage = shortage;
    memory.missing_bytes = needed - *there;
  }
}

}  // namespace

double cache_reserve_bytes(const MemoryBreakdown& use) {
  return plan::cache_reserve *
         (use.batches_bytes + use.activations_bytes + use.model_bytes + use.embeddings_bytes);
}

double topology_bytes(const WorkloadProfile& workload) {
  const auto draws = workload.job.weighted ? kernels::cpu::Draws::by_weight : kernels::cpu::Draws::uniform;
  return static_cast<double>(kernels::cpu::resident_bytes(workload.vertices, workload.edges, draws));
}

double stored_topology_bytes(const WorkloadProfile& workload) {
  constexpr double weight_bytes = sizeof(float);
  const double edge_bytes = static_cast<double>(kernels::cpu::index_bytes(workload.vertices)) +
                            (workload.job.weighted ? weight_bytes : 0);
  return sizeof(std::int64_t) * (static_cast<double>(workload.vertices) + 1) +
         edge_bytes * static_cast<double>(workload.edges);
}

double features_bytes(const WorkloadProfile& workload) {
  return static_cast<double>(workload.vertices) * static_cast<double>(workload.feature_row_bytes);
}

double parameters_bytes(const WorkloadProfile& workload) {
  if (const auto measured = workload.parts.parameter_bytes) {
    return *measured;
  }
  const double hidden = workload.job.hidden;
  const double per_layer = workload.job.model == plan::ModelKind::sage ? 2 : 1;
  const double inner = std::max(0, workload.job.layers() - 2) * hidden * hidden;
  // The number of classes, the last layer's width, is not in a profile; the hidden width is used instead.
  const double outer = static_cast<double>(workload.feature_columns) * hidden + hidden * hidden;
  const double skips = workload.job.skip ? outer : 0;  // no matrix if a layer keeps its width
  return (per_layer * (outer + inner) + skips) * value_bytes;
}

double hot_row_bytes(const WorkloadProfile& workload) {
  const auto& fanouts = workload.job.fanouts;
  const auto stored = static_cast<double>(workload.feature_row_bytes);
  const double dense =
      workload.feature_columns > 0 ? static_cast<double>(workload.feature_columns) * value_bytes : stored;
  const bool takes_all = fanouts.empty() || fanouts.back() < 0;
  const double sum = takes_all ? dense : std::min(dense, stored * (1 + fanouts.back()));
  const double own = workload.job.model == plan::ModelKind::sage ? std::min(dense, stored) : 0;
  return workload.job.hidden * value_bytes + sum + own;
}

std::optional<double> sampler_bytes(const WorkloadProfile& workload, int threads) {
  if (!workload.max_degree) {
    return std::nullopt;
  }
  const auto& fanouts = workload.job.fanouts;
  const auto largest = kernels::cpu::largest_batch({workload.vertices, workload.edges, *workload.max_degree},
                                                   workload.job.batch_size, fanouts);
  return static_cast<double>(threads > 1 ? kernels::cpu::max_split_sampler_bytes(largest, fanouts, threads)
                                         : kernels::cpu::max_sampler_bytes(largest.num_vertices(), fanouts));
}

Memory memory_of(const profiles::Profile& profile, const Plan& plan, const CacheGains& gains) {
  if (plan.bias > 1 && !profile.workload.job.weighted) {  // the bias is applied by weights
    auto weighted = profile;
    weighted.workload.job.weighted = true;
    return memory_of(weighted, plan, gains);
  }
  const bool has_device = plan::has_link(profile.machine.device.kind);
  const auto device_bytes = device_memory_bytes(profile, plan);
  Memory memory;
  memory.host = on_host(profile, plan);
  MemoryBreakdown device = on_device(profile, plan);
  if (!has_device) {  // its buffers are in host memory, which holds the graph once
    device.contexts_bytes = device.topology_bytes = device.features_bytes = 0;
    // Slots move from host to device, so their total is limited by the number of mini-batches, too.
    const double spare = static_cast<double>(profile.workload.batches) - host_slots(profile.workload, plan);
    const double macro =
        plan::samples_macro_batches(plan) ? sampled_macro_batches(profile.workload, plan) : 0;
    memory.host.batches_bytes +=
        macro + (device.batches_bytes - macro) * std::min(1.0, spare / device_slots(profile.workload, plan));
    memory.host.samplers_bytes +=
        plan.uses_device_route() ? sampler_bytes(profile.workload, plan.device_threads).value_or(0) : 0;
    memory.host.activations_bytes = device.activations_bytes;
    memory.host.model_bytes = device.model_bytes;
  } else {
    memory.device = device;
  }
  memory.evaluation_bytes = evaluation_bytes(profile.workload, memory.host);
  if (plan::has_host_cache(plan)) {
    add_host_cache(profile, plan, memory);
  } else if (plan.cache.is_used() && has_device) {
    add_cache(profile, plan, gains, device_bytes, memory.device, memory.cached);
  }
  note_shortage(memory, Shortage::device_memory, plan, memory.device, device_bytes);
  if (has_device && divides_roles(plan)) {
    note_shortage(memory, Shortage::device_memory, plan, on_sampler(profile, plan), device_bytes);
  }
  note_shortage(memory, Shortage::host_memory, plan, memory.host, profile.machine.cpu.memory_bytes,
                memory.evaluation_bytes.value_or(0));
  return memory;
}

std::string shortage_text(const Memory& memory) {
  if (memory.shortage == Shortage::none) {
    return "";
  }
  char text[80];
  std::snprintf(text, sizeof text, "%s memory: %.3g GB are missing",
                memory.shortage == Shortage::host_memory ? "host" : "device", memory.missing_bytes / 1e9);
  return text;
}

}  // namespace gnomon::sim
