#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/batch/batch_data.h"
#include "runtime/cache/cache_use.h"
#include "runtime/disk/block_reader.h"
#include "runtime/disk/disk_counts.h"
#include "runtime/disk/disk_features.h"
#include "runtime/disk/disk_lists.h"
#include "runtime/placement.h"

namespace gnomon::runtime {

/// Whether two plans read the same from the disk, by the same caches.
bool reads_disk_alike(const plan::Plan& a, const plan::Plan& b);

/// Throws base::InputError, which names what to change, if the plan cannot read this graph from the disk: the
/// graph is not a store's, its features are sparse, or the job draws by weights, whose tables lie in memory.
void check_disk(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan);

/// What a plan reads from a graph's store while it trains, and its caches in the host's memory. Mini-batches
/// are those of plans with all data in memory, bit for bit.
class DiskData {
 public:
  /// `placed` is the graph as the plan's other fields place it; where the plan leaves the topology on the
  /// disk, only its features, labels and splits are used. Throws what check_disk() throws.
  DiskData(const graph::Graph& graph, plan::Job job, const plan::Plan& plan);

  /// The graph for samplers, whose lists are read from the disk. Precondition: the plan's topology is there.
  std::shared_ptr<const PlacedGraph> place_lists(const graph::Graph& graph) const;

  /// Whether nobody has said yet how much memory the plan's caches get.
  bool waits_for_memory() const { return waits_for_memory_; }
  /// Makes the plan's caches, if it has any, of `bytes`, and fills those whose content is chosen before
  /// training. `placed` is what samplers read.
  void fill_caches(std::int64_t bytes, std::shared_ptr<const PlacedGraph> placed);
  /// The mini-batches that follow: position i of the epoch is batch order[i].
  void begin_epoch(std::int64_t epoch, const std::vector<std::int64_t>& order);

  /// Whether features are on the disk.
  bool has_features() const { return features_ != nullptr; }
  /// DiskFeatures::gather. Precondition: has_features().
  void gather(std::int64_t position, int worker, BatchData& data) {
    features_->gather(position, worker, data);
  }

  /// Since the last call.
  CacheUse take_cache_use() { return counts_->take_cache_use(); }
  ReadCounts take_reads() { return counts_->take_reads(); }

 private:
  std::unique_ptr<RowCache> make_row_cache(double bytes, const std::shared_ptr<const PlacedGraph>& placed);
  std::unique_ptr<RowCache> make_static_cache(std::int64_t rows,
                                              const std::shared_ptr<const PlacedGraph>& placed);
  std::unique_ptr<RowCache> make_optimal_cache(double bytes, std::int64_t rows,
                                               const std::shared_ptr<const PlacedGraph>& placed);

  plan::Job job_;
  plan::Plan plan_;
  std::int64_t row_bytes_;
  std::int64_t list_bytes_;  ///< of all lists
  std::shared_ptr<DiskCounts> counts_ = std::make_shared<DiskCounts>();
  std::unique_ptr<DiskFeatures> features_;  ///< null if they are in memory, as the next
  std::shared_ptr<ListsFile> lists_;
  bool waits_for_memory_ = true;
};

}  // namespace gnomon::runtime
