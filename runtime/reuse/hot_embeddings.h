#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/progress.h"
#include "nn/models.h"
#include "nn/tensor_batch.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/device.h"
#include "runtime/placement.h"
#include "runtime/reuse/hot_ratio_options.h"
#include "runtime/reuse/hot_set.h"
#include "runtime/reuse/pruned_sampler.h"
#include "runtime/reuse/refresh.h"
#include "runtime/reuse/reuse_report.h"

namespace gnomon::runtime {

/// Throws base::InputError for a job whose first layer's rows cannot be reused: their gradient must be
/// computable from the aggregated values, and nothing else may read the features of hot vertices.
void check_reuse(const plan::Plan& plan, const plan::Job& job);

/// NeutronOrch's reuse of hot embeddings (PVLDB 17(8), section 4): the first layer's rows of hot vertices are
/// computed by CPU workers once in a super-batch of n mini-batches, by the weights at the begin of the
/// super-batch before (for the first two of an epoch, at the begin of the epoch), and used by all its
/// mini-batches. The weights are at most 2n - 1 updates old.
///
/// Training is a pure function of job, plan and the numbers of hot vertices. Mini-batches are numbered in the
/// order of the epoch's updates; mini-batch k belongs to super-batch k / n.
///
/// Threads: prepare() on the workers, transfer() on the copy engine, everything else on the thread of the
/// device or, while no stage runs, of the trainer.
class HotEmbeddings {
 public:
  /// `model` is the one that is trained; it must outlive the object. `options.counts` is empty or covers all
  /// epochs. Throws what check_reuse() throws.
  HotEmbeddings(std::shared_ptr<const PlacedGraph> graph, const plan::Job& job, const plan::Plan& plan,
                const nn::Model& model, HotRatioOptions options, const base::Progress& progress);

  /// Starts an epoch, or resumes one after `trained` mini-batches. `order` are all its mini-batches in the
  /// order of their updates; `updates` is the number of updates before the epoch.
  void begin_epoch(std::int64_t epoch, std::vector<std::int64_t> order, std::int64_t trained,
                   std::int64_t updates);
  /// To be called after the update of each mini-batch: keeps the weights at the end of a super-batch.
  void end_update();
  /// Mini-batches until the end of the current super-batch; 0 between super-batches.
  std::int64_t left_in_super_batch() const;

  /// The hot vertices of mini-batch k's super-batch.
  HotVertices hot_of(std::int64_t k) const;
  /// A worker's share of the refresh for a super-batch.
  void prepare(std::int64_t super_batch, int worker);
  /// Copies the refreshed rows to the device, once all shares are done. Drops those of finished
  /// super-batches.
  void transfer(std::int64_t super_batch, Device& device);
  /// What mini-batch k reuses. Asserts that no row is more than 2n - 1 updates old.
  std::shared_ptr<const nn::ReusedBottom> reused_by(std::int64_t k, const SplitBottom& bottom,
                                                    std::int64_t gathered_vertices);

  /// The epoch so far.
  ReuseReport report() const;
  /// For the checkpoint: everything that a resumed run needs to recompute the rows in use and in preparation.
  std::map<std::string, at::Tensor> carried() const;
  void restore(const std::map<std::string, at::Tensor>& tensors);

  const HotSet& set() const { return set_; }

 private:
  /// A super-batch in training or in preparation.
  struct SuperBatch {
    std::int64_t version = 0;  ///< number of updates when its parameters were kept
    std::int64_t hot = 0;
    std::vector<at::Tensor> parameters;  ///< of the first layer, on the CPU
    std::unique_ptr<Refresh> refresh;    ///< made by the first share
    nn::ReusedRows rows;                 ///< on the device
  };

  SuperBatch& super_batch(std::int64_t number) const;
  void keep_weights(std::int64_t number);
  std::int64_t next_hot_count(std::int64_t number) const;
  Refresh& refresh_of(std::int64_t number);
  RefreshTools& tools_of(int worker);
  void note_change();
  /// Adds the largest change since the last super-batch began to the report of the one in training.
  void read_change(ReuseReport& report) const;
  std::int64_t edges_below(const std::vector<graph::VertexId>& vertices) const;
  std::vector<at::Tensor> bottom_parameters() const { return model_.layer(0).parameters(); }

  std::shared_ptr<const PlacedGraph> graph_;
  plan::Job job_;
  plan::Plan plan_;
  const nn::Model& model_;
  HotRatioOptions options_;
  BottomVisits visits_;
  HotSet set_;
  std::vector<std::unique_ptr<RefreshTools>> tools_;  ///< by worker
  std::vector<std::vector<int>> cores_;               ///< of each worker's threads

  std::int64_t epoch_ = 0;
  std::vector<std::int64_t> order_;
  std::vector<graph::VertexId> seeds_;  ///< of the epoch
  std::int64_t trained_ = 0;            ///< of the epoch
  std::int64_t updates_ = 0;            ///< of all epochs
  /// The super-batch in whose middle the epoch was resumed, while the rest of which nothing is refreshed;
  /// else -1.
  std::int64_t resumed_in_ = -1;
  std::int64_t hot_ = 0;            ///< of the last super-batch that was planned
  std::vector<at::Tensor> before_;  ///< parameters before the update
  at::Tensor largest_change_;       ///< of a parameter in the super-batch's updates; undefined: not read yet
  mutable std::mutex mutex_;        ///< guards the map, not its values
  std::map<std::int64_t, std::unique_ptr<SuperBatch>> super_batches_;
  ReuseReport report_;  ///< sums over the epoch; report() subtracts them from the exact plan's
};

}  // namespace gnomon::runtime
