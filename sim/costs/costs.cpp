#include "sim/costs/costs.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "plan/cached_rows.h"
#include "plan/disk_plans.h"
#include "plan/regime.h"
#include "profiles/scaling.h"
#include "sim/costs/all_reduce.h"
#include "sim/costs/disk_costs.h"
#include "sim/costs/halves.h"
#include "sim/costs/hops.h"
#include "sim/costs/macro_read.h"
#include "sim/costs/macro_sample.h"
#include "sim/costs/needed.h"
#include "sim/costs/one_hop.h"
#include "sim/costs/resident_batch.h"
#include "sim/costs/train_ratios.h"
#include "sim/costs/zero_copy.h"

namespace gnomon::sim {
namespace {

using plan::Home;
using plan::Plan;
using plan::Reuse;
using plan::Route;
using plan::Schedule;
using profiles::WorkloadProfile;

/// The relative time of a mini-batch that samples a share of the edges, on the line through a measured one
/// and a usual one.
double on_line(double measured_edges, double measured_time, double edges) {
  const double slope = measured_edges < 1 ? (1 - measured_time) / (1 - measured_edges) : 0;
  return std::max(0.0, 1 - slope * (1 - edges));
}

class Costing {
 public:
  Costing(const profiles::Profile& profile, const Plan& plan)
      : profile_(profile),
        workload_(profile.workload),
        plan_(plan),
        has_device_(plan::has_link(profile.machine.device.kind)),
        halves_(halves_of(profile.workload)) {}

  PlanCosts run() {
    result_.memory = memory_of(profile_, plan_, gains());
    train_s_ = workload_.train.mean_s;
    prefer_cached();
    reuse_embeddings();
    draw_among_residents();
    answer_from_cache();
    read_disk();
    keep_resident();
    compose();
    add_all_reduce(costs(), profile_, plan_);
    if (profile_.learned) {
      const auto* const learned = profile_.learned->of(plan::regime_of(plan_, profiles::cores_of(profile_)));
      correct(learned != nullptr ? *learned : profiles::Corrections{});
    }
    if (profile_.corrections) {
      correct(*profile_.corrections);
    }
    return result_;
  }

 private:
  CacheGains gains() const {
    CacheGains gains;
    gains.feature_bytes = plan_.cache.features ? features_bytes(workload_) : 0;
    gains.topology_bytes = plan_.cache.topology ? topology_bytes(workload_) : 0;
    gains.feature_s = halves_.device_gather_link_s;
    gains.topology_s = halves_.device_sample_link_s;
    return gains;
  }

  /// The time of a copy over the link, at the bandwidth in the profile or else that of measured transfers.
  /// 0 without either (a host device copies nothing).
  double copy_s(double bytes) const {
    if (const auto bandwidth = profile_.machine.link.bandwidth_bytes_per_s) {
      return bytes / *bandwidth;
    }
    return workload_.batch_bytes > 0 ? bytes * workload_.transfer.mean_s / workload_.batch_bytes : 0;
  }

  /// Biased draws are weighted.
  void prefer_cached() {
    if (plan_.bias > 1 && !workload_.job.weighted) {
      const double ratio = workload_.parts.biased_sample_ratio.value_or(1);
      halves_.cpu_sample_s *= ratio;
      halves_.device_sample_s *= ratio;
      halves_.device_sample_link_s *= ratio;
    }
  }

  void reuse_embeddings() {
    if (plan_.embeddings.reuse == Reuse::hot) {
      reuse_hot();
    } else if (plan_.embeddings.reuse == Reuse::all) {
      reuse_all();
    }
  }

  /// Reuse of all embeddings: a mini-batch is one hop, along which every layer aggregates for the seeds.
  /// Embeddings of the other sources are gathered and copied before training, and those of the seeds copied
  /// back after it, which is estimated by bytes unless the profile measured such training.
  void reuse_all() {
    const auto hop = one_hop(workload_);
    const auto& parts = workload_.parts;
    halves_.scale_sampling(parts.one_hop_batch_ratio.value_or(hop.edges), hop.edges);
    halves_.scale_gathering(parts.one_hop_batch_ratio.value_or(hop.vertices), hop.vertices);
    if (parts.one_hop_train_ratio) {
      train_s_ *= *parts.one_hop_train_ratio;
      return;
    }
    const double layers = workload_.job.layers() - 1;
    const double row_bytes = layers * workload_.job.hidden * value_bytes;
    const double pulled = row_bytes * hop.halo;
    const double pushed = row_bytes * static_cast<double>(workload_.job.batch_size);
    const double feature_bytes = workload_.batch_vertices * static_cast<double>(workload_.feature_row_bytes);
    const double byte_s =
        feature_bytes > 0 ? (workload_.cpu_batch.mean_s - halves_of(workload_).cpu_sample_s) / feature_bytes
                          : 0;
    train_s_ *= hop.train;
    train_s_ += (pulled + pushed) * byte_s + (has_device_ ? copy_s(pulled) + copy_s(pushed) : 0);
  }

  /// Reuse of hot embeddings: nothing is sampled or gathered below a hot vertex, and its forward pass is
  /// skipped. The CPU computes each hot vertex that the super-batch uses once. The layer's backward pass
  /// remains on the device, to which the aggregated rows are copied together with the embeddings; without an
  /// input gradient and a measurement it takes as long as the forward pass.
  void reuse_hot() {
    const HotUse hot = hot_use_of(workload_, plan_);
    const double bottom = bottom_of(workload_).edge_share;
    const double refresh_s = workload_.parts.refresh_s.value_or(workload_.cpu_batch.mean_s * bottom);
    const double batches = static_cast<double>(plan_.super_batch) * plan_.devices;
    costs().group_prepare_s =
        batches * workload_.parts.find_hot_s.value_or(0) + refresh_s * hot.computed_edges;
    costs().group_transfer_s = copy_s(hot.computed * hot_row_bytes(workload_));
    const double sampled = 1 - bottom * hot.edges;
    const auto& measured = workload_.hot_batch;
    const auto preparing = [&](double estimate) {
      return measured ? on_line(measured->edges, measured->device_batch, sampled) : estimate;
    };
    halves_.scale_sampling(preparing(sampled), sampled);
    halves_.scale_gathering(preparing(1 - hot.vertices), 1 - hot.vertices);
    train_s_ *= measured ? on_line(measured->edges, measured->train, sampled) : (1 + sampled) / 2;
  }

  /// Macro-batches from the disk have no neighbours but those in their parts, and hubs.
  void draw_among_residents() {
    if (plan_.schedule != Schedule::macro_batch || plan_.features != Home::disk) {
      return;
    }
    const auto batch = resident_costs(workload_, plan_.macro);
    halves_.scale_sampling(batch.cpu_batch, batch.edges);
    halves_.scale_gathering(batch.cpu_batch, batch.vertices);
    train_s_ *= batch.train;
  }

  double hits(const profiles::Accesses& accesses, double share) const {
    return biased_hit_share(hit_share(accesses, plan_.cache.policy, share), plan_.bias);
  }

  /// The device does not read cached rows and lists over the link to the host, but from its memory or, in
  /// linked devices' parts, over the links between devices. The CPU gathers and copies all rows, unless it
  /// knows what is cached.
  void answer_from_cache() {
    if (!plan_.cache.is_used() || plan_.cache.place != Home::device || !has_device_) {
      return;
    }
    const auto& cached = result_.memory.cached;
    const double rows = plan_.cache.features ? hits(workload_.features, cached.features) : 0;
    const double lists = plan_.cache.topology ? hits(workload_.topology, cached.topology) : 0;
    const double answered = rows * halves_.feature_bytes;
    const double lists_link_s = halves_.device_sample_link_s;
    move_from_link(halves_.device_gather_s, halves_.device_gather_link_s, rows);
    move_from_link(halves_.device_sample_s, halves_.device_sample_link_s, lists);
    if (plan::leaves_out_cached_rows(plan_)) {
      constexpr double place_bytes = sizeof(std::int64_t) + sizeof(std::int32_t);  // cached or copied
      halves_.cpu_gather_s *= 1 - rows;
      halves_.feature_bytes += place_bytes * workload_.batch_vertices - answered;
    }
    const auto bandwidth = profile_.machine.device.memory_bandwidth_bytes_per_s;
    halves_.device_gather_s += bandwidth ? answered / *bandwidth : 0;
    if (plan_.cache.sharded && profile_.machine.peers.bandwidth_bytes_per_s > 0) {
      read_peers(answered, lists * lists_link_s);
    }
  }

  /// Linked devices hold equal parts of a sharded cache. Reads of lists, `lists_link_s` over the host's link,
  /// are 32-byte sectors, which have headers there. As in the runtime, the device of a mini-batch draws all
  /// its neighbours; DSP's devices (PPoPP 2023, section 4) draw for each other and exchange ids instead.
  void read_peers(double row_bytes, double lists_link_s) {
    constexpr double sector_bytes = 32;
    const auto& link = profile_.machine.link;
    const double bandwidth = profile_.machine.peers.bandwidth_bytes_per_s;
    const int linked = std::max(1, std::min(plan_.devices, profile_.machine.peers.clique));
    const double share = static_cast<double>(linked - 1) / linked;
    const double list_bytes = lists_link_s * link.bandwidth_bytes_per_s.value_or(0) * sector_bytes /
                              (sector_bytes + link.header_bytes);
    peer_s_ = share * row_bytes / bandwidth;
    sample_peer_s_ = share * list_bytes / bandwidth;
    halves_.device_gather_s += peer_s_;
    halves_.device_sample_s += sample_peer_s_;
  }

  static void move_from_link(double& whole_s, double& link_s, double share) {
    whole_s -= link_s * share;
    link_s *= 1 - share;
  }

  /// Disk reads of single batches; macro-batches read whole parts.
  void read_disk() {
    if (plan_.schedule == Schedule::macro_batch) {
      return;
    }
    costs().cpu_batch_disk_s = batch_disk_s(profile_, plan_, result_.memory.cached);
    if (plan::reads_disk(plan_) && plan::looks_ahead(plan_)) {
      // All workers sample mini-batches ahead and then wait for the cache's choices; nothing is read
      // meanwhile.
      costs().cpu_batch_disk_s +=
          halves_.cpu_sample_s / std::max(1, plan_.workers) + workload_.parts.cache_choices_s.value_or(0);
    }
    halves_.cpu_gather_s += plan_.features == Home::disk ? workload_.parts.disk_rows_s.value_or(0) : 0;
    halves_.cpu_sample_s += plan_.topology == Home::disk ? workload_.parts.disk_lists_s.value_or(0) : 0;
  }

  /// Data in device memory is not read over the link, nor is that of macro-batches, which are copied as a
  /// whole.
  void keep_resident() {
    const bool by_parts = plan_.schedule == Schedule::macro_batch;
    const bool resident = by_parts && plan_.route == Route::device;
    if (plan_.topology == Home::device || resident) {
      move_from_link(halves_.device_sample_s, halves_.device_sample_link_s, 1);
    }
    if (plan_.features == Home::device || resident) {
      move_from_link(halves_.device_gather_s, halves_.device_gather_link_s, 1);
    }
    if (by_parts && plan_.features == Home::disk) {
      const auto bandwidth = profile_.machine.disk.bandwidth_bytes_per_s;
      costs().group_read_s = macro_read(workload_, plan_.macro).bytes /
                             needed(bandwidth, "machine.disk.bandwidth_bytes_per_s", plan_);
    } else if (by_parts) {
      prepare_on_host();
    }
  }

  /// JOESTAR: parts of the graph, copied completely or only as far as batches sampled ahead need them; or,
  /// without a partition, the union of many batches that the CPU samples together.
  void prepare_on_host() {
    const double part = static_cast<double>(plan_.macro.resident) / plan_.macro.partitions;
    const double batches = part * static_cast<double>(workload_.batches);
    const auto sample = macro_sample(workload_, plan_);
    halves_.device_sample_s *= workload_.parts.macro_sample_ratio.value_or(1);
    const double row_s = workload_.batch_vertices > 0 ? halves_.cpu_gather_s / workload_.batch_vertices : 0;
    costs().group_prepare_s = sample.vertices * row_s + batches * halves_.cpu_sample_s * sample.draws +
                              sample.entries * workload_.parts.halo_entry_s.value_or(0) +
                              sample.drawn * workload_.parts.macro_edge_s.value_or(0);
    costs().group_transfer_s = copy_s(sample.vertices * static_cast<double>(workload_.feature_row_bytes) +
                                      local_id_bytes * sample.edges);
  }

  void compose() {
    const bool by_trainer = plan_.prepares_samples();
    const double workers =
        profiles::worker_efficiency_at(workload_.worker_efficiency, plan_.workers * plan_.worker_threads);
    const double batch_speedup = preparing_speedup(workload_, plan::preparing_threads(plan_));
    const double unaligned =
        plan_.unaligned_reads
            ? unaligned_slowdown(static_cast<double>(workload_.feature_row_bytes), profile_.machine.link)
            : 1;
    const double extra_link_s = halves_.device_gather_link_s * (unaligned - 1);
    const double gather_s = halves_.device_gather_s + extra_link_s;
    const double gather_link_s = halves_.device_gather_link_s + extra_link_s;
    costs().cpu_batch_s = (shared_sample_s() + (by_trainer ? 0 : shared_gather_s())) / workers;
    costs().group_prepare_s /= workers;
    const double copied = share_of_copy(by_trainer);
    costs().transfer_s = workload_.transfer.mean_s * copied;
    costs().train_s = train_s_ * fused_ratio(workload_, plan_, gather_s) * graphs_ratio(profile_, plan_) *
                      waiting_ratio(workload_, plan_, halves_.device_sample_link_s + gather_link_s) /
                      profiles::speedup_at(workload_.train_speedup, plan_.device_threads);
    prepare(costs().device_batch_s, costs().device_batch_link_s, costs().device_batch_peer_s,
            halves_.device_sample_s + (by_trainer ? 0 : gather_s),
            halves_.device_sample_link_s + (by_trainer ? 0 : gather_link_s),
            sample_peer_s_ + (by_trainer ? 0 : peer_s_), batch_speedup);
    shrink_batches();
    if (plan_.gathers_apart()) {
      prepare(costs().device_gather_s, costs().device_gather_link_s, costs().device_gather_peer_s, gather_s,
              gather_link_s, peer_s_, batch_speedup);
    }
  }

  /// The time that a worker's threads take together to sample a mini-batch.
  double shared_sample_s() const {
    const auto& measured = workload_.cpu_sample_speedup;
    return halves_.cpu_sample_s /
           profiles::speedup_at(measured.empty() ? workload_.cpu_batch_speedup : measured,
                                plan_.worker_threads);
  }

  /// The same to gather its features, which scales as what the measured sampling leaves of the whole.
  double shared_gather_s() const {
    const auto whole = halves_of(workload_);
    const double speedup = profiles::speedup_at(workload_.cpu_batch_speedup, plan_.worker_threads);
    if (workload_.cpu_sample_speedup.empty() || whole.cpu_gather_s <= 0) {
      return halves_.cpu_gather_s / speedup;
    }
    const double sampling_s =
        whole.cpu_sample_s / profiles::speedup_at(workload_.cpu_sample_speedup, plan_.worker_threads);
    const double gathering_s = std::max(workload_.cpu_batch.mean_s / speedup - sampling_s,
                                        whole.cpu_gather_s / std::max(1, plan_.worker_threads));
    return halves_.cpu_gather_s / whole.cpu_gather_s * gathering_s;
  }

  /// Mini-batches of macro-batches are smaller on average, and more.
  void shrink_batches() {
    const auto batches = batches_of(workload_, plan_);
    if (plan_.schedule != Schedule::macro_batch || batches <= workload_.batches) {
      return;
    }
    const double share = static_cast<double>(workload_.batches) / static_cast<double>(batches);
    for (double StageCosts::*part :
         {&StageCosts::cpu_batch_s, &StageCosts::transfer_s, &StageCosts::train_s,
          &StageCosts::device_batch_s, &StageCosts::device_batch_link_s, &StageCosts::device_batch_peer_s}) {
      costs().*part *= share;
    }
  }

  /// The share of the profile's transfer that this plan has: by bytes, unless copies without features were
  /// measured.
  double share_of_copy(bool by_trainer) const {
    const Halves whole = halves_of(workload_);
    const double all = whole.structure_bytes + whole.feature_bytes;
    const double gathered = by_trainer ? 0 : halves_.feature_bytes;
    const auto structure = workload_.parts.structure_transfer_ratio;
    if (structure && whole.structure_bytes > 0 && whole.feature_bytes > 0) {
      return *structure * halves_.structure_bytes / whole.structure_bytes +
             (1 - *structure) * gathered / whole.feature_bytes;
    }
    return all > 0 ? (halves_.structure_bytes + gathered) / all : by_trainer ? 0.5 : 1;
  }

  /// On a share p of a GPU's thread slots, preparation takes the measured ratio at the measured share, and
  /// beyond 1 in proportion to 1/p - 1 at others: kernels between those that need all slots (1/p times as
  /// long) and those that do not. Without a measurement they do not. Reads take longer only if the share
  /// cannot saturate the link. On the host's cores it is a share of threads.
  void prepare(double& seconds, double& link_part_s, double& peer_part_s, double whole_s, double link_s,
               double peer_s, double speedup) const {
    double limited = 1;
    double reading = 1;
    const bool on_cores = plan::runs_on_cores(profile_.machine.device.kind);
    if (plan_.prepares_beside_training() && !on_cores) {
      const auto missing = [](double share) { return 1 / share - 1; };
      const double ratio = std::max(1.0, workload_.parts.prepare_share_ratio.value_or(1));
      limited = 1 + (ratio - 1) * missing(plan_.prepare_share) / missing(profiles::measured_prepare_share);
      reading = std::max(1.0, profile_.machine.device.link_saturation_share / plan_.prepare_share);
    }
    link_part_s = link_s * reading;
    peer_part_s = peer_s * reading;
    const double computing_s = std::max(0.0, whole_s - link_s - peer_s) / speedup;
    seconds = std::max(link_part_s + peer_part_s + computing_s, limited * whole_s / speedup);
  }

  /// Applies the corrections from real runs. Stages without a correction, disk reads and averaging are
  /// unchanged.
  void correct(const profiles::Corrections& corrections) {
    const auto multiply = [this](const std::optional<profiles::Correction>& correction,
                                 std::initializer_list<double StageCosts::*> parts) {
      for (double StageCosts::*part : parts) {
        costs().*part *= profiles::ratio_of(correction);
      }
    };
    multiply(corrections.cpu_batch, {&StageCosts::cpu_batch_s, &StageCosts::group_prepare_s});
    multiply(corrections.transfer, {&StageCosts::transfer_s, &StageCosts::group_transfer_s});
    multiply(
        corrections.device_batch,
        {&StageCosts::device_batch_s, &StageCosts::device_batch_link_s, &StageCosts::device_batch_peer_s,
         &StageCosts::device_gather_s, &StageCosts::device_gather_link_s, &StageCosts::device_gather_peer_s});
    multiply(corrections.train, {&StageCosts::train_s});
  }

  StageCosts& costs() { return result_.costs; }

  const profiles::Profile& profile_;
  const WorkloadProfile& workload_;
  const Plan& plan_;
  const bool has_device_;
  Halves halves_;
  double train_s_ = 0;
  double peer_s_ = 0;         ///< reads of rows that linked devices hold
  double sample_peer_s_ = 0;  ///< and of lists
  PlanCosts result_;
};

}  // namespace

PlanCosts costs_of_plan(const profiles::Profile& profile, const Plan& plan) {
  return Costing(profile, plan).run();
}

std::int64_t batches_of(const WorkloadProfile& workload, const Plan& plan) {
  const std::int64_t size = workload.job.batch_size;
  if (plan.schedule == Schedule::macro_batch && workload.train_vertices > 0 && size > 0) {
    // Each macro-batch divides its share of the training vertices among as few mini-batches as hold them.
    const std::int64_t groups = (plan.macro.partitions + plan.macro.resident - 1) / plan.macro.resident;
    const double seeds = static_cast<double>(workload.train_vertices) / static_cast<double>(groups);
    return groups * static_cast<std::int64_t>(std::ceil(seeds / static_cast<double>(size)));
  }
  if (plan.embeddings.reuse != Reuse::all || workload.train_vertices <= 0 || size <= 0) {
    return workload.batches;
  }
  const auto whole = [size](std::int64_t seeds) { return static_cast<double>((seeds + size - 1) / size); };
  const double ratio = whole(workload.vertices) / whole(workload.train_vertices);
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(workload.batches) * ratio));
}

double preparing_speedup(const profiles::WorkloadProfile& workload, int threads) {
  const double whole = profiles::speedup_at(workload.device_batch_speedup, threads);
  const double computing_s = workload.device_batch.mean_s - workload.device_batch_link_s;
  if (computing_s <= 0 || workload.device_batch_link_s <= 0) {
    return whole;
  }
  const double rest_s = workload.device_batch.mean_s / whole - workload.device_batch_link_s;
  return std::clamp(computing_s / std::max(rest_s, computing_s / threads), 1.0,
                    std::max(1.0 * threads, whole));
}

int best_samplers(const StageCosts& costs, int devices) {
  const double train_s = std::max(costs.train_s, costs.device_gather_s);
  if (devices < 2 || costs.device_batch_s <= 0) {
    return devices < 2 ? 0 : 1;
  }
  const double ratio = train_s / costs.device_batch_s;
  return std::clamp(static_cast<int>(std::ceil(devices / (ratio + 1))), 1, devices - 1);
}

}  // namespace gnomon::sim
