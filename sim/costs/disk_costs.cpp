#include "sim/costs/disk_costs.h"

#include <algorithm>

#include "plan/disk_plans.h"
#include "sim/costs/cache.h"
#include "sim/costs/disk_reads.h"
#include "sim/costs/hops.h"
#include "sim/costs/needed.h"

namespace gnomon::sim {
namespace {

using plan::Home;
using plan::Plan;
using profiles::WorkloadProfile;

/// Items of one kind, of which a share is cached in host memory.
struct CachedItems {
  plan::CachePolicy policy = plan::CachePolicy::none;
  double share = 0;
  double wanted = 0;  ///< by a mini-batch
  double items = 0;
};

/// The share of a mini-batch's reads that the cache does not answer.
double missed(const WorkloadProfile& workload, const profiles::Accesses& accesses,
              const CachedItems& cached) {
  const double uses = cached.wanted * static_cast<double>(workload.batches) / std::max(1.0, cached.items);
  return 1 - filled_hit_share(accesses, cached.policy, cached.share, uses);
}

DiskReads read_rows(const WorkloadProfile& workload, const Plan& plan, double cached, double block_bytes) {
  const auto vertices = static_cast<double>(workload.vertices);
  const double share = plan::has_host_cache(plan) && plan.cache.features
                           ? missed(workload, workload.features,
                                    {plan.cache.policy, cached, workload.batch_vertices, vertices})
                           : 1;
  return reads_of(
      {workload.batch_vertices * share, vertices, static_cast<double>(workload.feature_row_bytes)},
      block_bytes);
}

/// Of the blocks of adjacency lists, if these have been counted.
DiskReads read_lists(const WorkloadProfile& workload, const Plan& plan, double cached, double block_bytes) {
  const bool has_cache = plan::has_host_cache(plan) && plan.cache.topology;
  const double list_bytes = stored_topology_bytes(workload);
  if (const auto& lists = workload.list_blocks) {
    // Whatever the policy, the blocks that were used last are kept (runtime/disk/disk_lists.h).
    const double share =
        has_cache
            ? missed(workload, lists->accesses,
                     {plan::CachePolicy::recent, cached, lists->blocks, list_bytes / lists->block_bytes})
            : 1;
    return {share * lists->reads, share * lists->blocks * lists->block_bytes};
  }
  const auto vertices = static_cast<double>(workload.vertices);
  const double share = has_cache ? missed(workload, workload.topology,
                                          {plan.cache.policy, cached, workload.batch_vertices, vertices})
                                 : 1;
  return reads_of(
      {lists_read(workload) * share, vertices, list_bytes / std::max(1.0, vertices) - sizeof(std::int64_t)},
      block_bytes);
}

}  // namespace

double batch_disk_s(const profiles::Profile& profile, const Plan& plan, const CacheShares& cached) {
  if (!plan::reads_disk(plan)) {
    return 0;
  }
  const auto& disk = profile.machine.disk;
  const WorkloadProfile& workload = profile.workload;
  const DiskReads rows = plan.features == Home::disk
                             ? read_rows(workload, plan, cached.features, disk.block_bytes)
                             : DiskReads{};
  const DiskReads lists = plan.topology == Home::disk
                              ? read_lists(workload, plan, cached.topology, disk.block_bytes)
                              : DiskReads{};
  const double rate = needed(disk.random_reads_per_s, "machine.disk.random_reads_per_s", plan);
  const double by_bytes =
      disk.bandwidth_bytes_per_s ? (rows.bytes + lists.bytes) / *disk.bandwidth_bytes_per_s : 0;
  return std::max((rows.reads + lists.reads) / rate, by_bytes);
}

}  // namespace gnomon::sim
