#include "runtime/disk/disk_data.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/trainable.h"
#include "plan/disk_plans.h"
#include "plan/host_cache.h"
#include "runtime/cache/presampling.h"
#include "runtime/disk/ahead_sampler.h"
#include "runtime/disk/optimal_row_cache.h"
#include "runtime/disk/recent_row_cache.h"
#include "runtime/disk/static_row_cache.h"

namespace gnomon::runtime {

using plan::CachePolicy;
using plan::Home;

bool reads_disk_alike(const plan::Plan& a, const plan::Plan& b) {
  return a.topology == b.topology && a.features == b.features && a.cache == b.cache &&
         a.workers == b.workers && a.super_batch == b.super_batch;
}

void check_disk(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan) {
  if (!plan::reads_disk(plan)) {
    return;
  }
  const std::string where = "plan " + plan.name;
  if (graph.directory.empty()) {
    throw base::InputError(where, "reads a graph's store on the disk, and this graph lies in memory");
  }
  if (plan.features == Home::disk && graph.features.is_sparse()) {
    throw base::InputError(where + ": features",
                           "\"disk\" reads dense rows, and those of graph \"" + graph.name +
                               "\" are sparse; use \"host\", or import with --feature-form dense");
  }
  if (plan.topology == Home::disk && job.weighted) {
    throw base::InputError(
        where + ": topology",
        "\"disk\" samples neighbours uniformly, but the job samples by weight; use \"host\"");
  }
  if (plan.cache.policy == CachePolicy::optimal && graph.num_vertices() >= (std::int64_t{1} << 31)) {
    throw base::InputError(where + ": cache.policy",
                           "\"optimal\" is for graphs of fewer than 2^31 vertices; use \"presample\"");
  }
}

DiskData::DiskData(const graph::Graph& graph, plan::Job job, const plan::Plan& plan)
    : job_(std::move(job)),
      plan_(plan),
      row_bytes_(graph.features.row_bytes()),
      list_bytes_(static_cast<std::int64_t>(graph.indices.bytes().size())) {
  check_disk(graph, job_, plan);
  if (plan.features == Home::disk) {
    features_ = std::make_unique<DiskFeatures>(graph, plan.workers, counts_);
  }
  if (plan.topology == Home::disk) {
    lists_ = open_lists(graph, counts_);
  }
}

std::shared_ptr<const PlacedGraph> DiskData::place_lists(const graph::Graph& graph) const {
  auto placed = std::make_shared<PlacedGraph>();
  placed->topology = kernels::cpu::with_lists_elsewhere(
      graph, [lists = lists_] { return std::make_unique<DiskLists>(lists); });
  placed->graph = graph;
  placed->graph.indptr = placed->topology.indptr;  // kept alive by the topology
  return placed;
}

/// Rows and lists get equal shares of their total sizes.
void DiskData::fill_caches(std::int64_t bytes, const std::shared_ptr<const PlacedGraph>& placed) {
  waits_for_memory_ = false;
  if (!plan_.cache.is_used()) {
    return;
  }
  const auto num_vertices = placed->graph.num_vertices();
  const bool has_rows = features_ != nullptr && plan_.cache.features;
  const bool has_lists = lists_ != nullptr && plan_.cache.topology;
  const double all_rows = has_rows ? static_cast<double>(num_vertices * row_bytes_) : 0;
  const double all_lists = has_lists ? static_cast<double>(list_bytes_) : 0;
  const double share = all_rows + all_lists > 0 ? static_cast<double>(bytes) / (all_rows + all_lists) : 0;
  if (has_lists) {
    const auto block_bytes = static_cast<std::int64_t>(lists_->array.file->block_bytes());
    const std::int64_t blocks = list_bytes_ / block_bytes + 2;
    lists_->cache = std::make_unique<RecentCache>(
        plan::host_cache_blocks(share * all_lists, blocks, block_bytes), block_bytes);
  }
  if (has_rows) {
    features_->use_cache(make_row_cache(share * all_rows, placed));
  }
}

std::unique_ptr<RowCache> DiskData::make_row_cache(double bytes,
                                                   const std::shared_ptr<const PlacedGraph>& placed) {
  const auto rows =
      plan::host_cache_rows(plan_.cache.policy, bytes, placed->graph.num_vertices(), row_bytes_);
  switch (plan_.cache.policy) {
    case CachePolicy::recent:
      return std::make_unique<RecentRowCache>(rows, row_bytes_);
    case CachePolicy::optimal:
      return make_optimal_cache(bytes, rows, placed);
    default:
      return make_static_cache(rows, placed);
  }
}

std::unique_ptr<RowCache> DiskData::make_static_cache(std::int64_t rows,
                                                      const std::shared_ptr<const PlacedGraph>& placed) {
  plan::Cache of_rows = plan_.cache;
  of_rows.topology = false;
  const auto visits =
      needs_visits(of_rows.policy) ? AheadSampler(placed, job_, plan_.workers).count_visits() : Visits{};
  EntryCosts costs;
  costs.row_bytes = row_bytes_;
  auto content = choose_content(placed->graph, of_rows, visits, costs, rows * row_bytes_, job_.seed);
  return std::make_unique<StaticRowCache>(
      placed->graph.num_vertices(), row_bytes_, std::move(content.rows),
      [this](std::span<const graph::VertexId> chosen, std::byte* out) { features_->read_rows(chosen, out); });
}

std::unique_ptr<RowCache> DiskData::make_optimal_cache(double bytes, std::int64_t rows,
                                                       const std::shared_ptr<const PlacedGraph>& placed) {
  OptimalRowCache::Options options;
  options.num_vertices = placed->graph.num_vertices();
  options.row_bytes = row_bytes_;
  options.max_rows = rows;
  options.super_batch = plan_.super_batch;
  options.max_known_accesses =
      static_cast<std::int64_t>(bytes * plan::look_ahead_share) / plan::known_access_bytes;
  options.threads = std::max(1, plan_.workers);
  auto ahead = std::make_shared<AheadSampler>(placed, job_, options.threads);
  return std::make_unique<OptimalRowCache>(
      options,
      [ahead](std::int64_t epoch, std::int64_t batch, int thread, std::vector<std::uint32_t>& vertices) {
        ahead->sample(epoch, batch, thread, vertices);
      });
}

void DiskData::begin_epoch(std::int64_t epoch, const std::vector<std::int64_t>& order) {
  if (features_ != nullptr && features_->cache() != nullptr) {
    features_->cache()->begin_epoch(epoch, order);
  }
}

}  // namespace gnomon::runtime
