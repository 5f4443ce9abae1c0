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

/// Whether two plans read the same data from the disk through the same caches.
bool reads_disk_alike(const plan::Plan& a, const plan::Plan& b);

/// Throws base::InputError, which names what to change, if the plan cannot read this graph from the disk: the
/// graph is not a store's, its features are sparse, or the job samples by weight, whose tables are in memory.
void check_disk(const graph::Graph& graph, const plan::Job& job, const plan::Plan& plan);

/// The data that a plan reads from a graph store during training, and its caches in host memory. Mini-batches
/// equal those of in-memory plans, bit for bit.
class DiskData {
 public:
  /// `placed` is the graph as the plan's other fields place it; where the plan leaves the topology on the
  /// disk, only its features, labels and splits are used. Throws what check_disk() throws.
  DiskData(const graph::Graph& graph, plan::Job job, const plan::Plan& plan);

  /// The graph for samplers, whose lists are read from the disk. Precondition: the plan's topology is there.
  std::shared_ptr<const PlacedGraph> place_lists(const graph::Graph& graph) const;

  /// Whether the memory of the plan's caches has yet to be determined.
  bool waits_for_memory() const { return waits_for_memory_; }
  /// Creates the plan's caches, if any, with `bytes` in all, and fills those whose content is chosen before
  /// training. `placed` is the graph that samplers read.
  void fill_caches(std::int64_t bytes, const std::shared_ptr<const PlacedGraph>& placed);
  /// Announces the following mini-batches: position i of the epoch is batch order[i].
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
  std::unique_ptr<DiskFeatures> features_;  ///< null if they are in memory; so is the next member
  std::shared_ptr<ListsFile> lists_;
  bool waits_for_memory_ = true;
};

}  // namespace gnomon::runtime
