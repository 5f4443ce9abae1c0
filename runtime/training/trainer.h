#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/cache/cache_use.h"
#include "runtime/device_options.h"
#include "runtime/disk/block_reader.h"
#include "runtime/reuse/hot_ratio_options.h"
#include "runtime/reuse/reuse_report.h"
#include "runtime/training/metric_values.h"
#include "runtime/training/staleness.h"
#include "runtime/training/stretch.h"
#include "schedule/epoch_log.h"
#include "schedule/timeline.h"

namespace gnomon::runtime {

struct EpochReport {
  std::int64_t epoch = 0;      ///< counted from 0; documents, logs and tables count from 1
  double loss = 0;             ///< mean over the epoch's training vertices
  double train_accuracy = 0;   ///< on the mini-batches as they were trained
  double valid_accuracy = 0;   ///< layer-wise full-neighbour inference; NaN without validation vertices
  double valid_loss = 0;       ///< as valid_accuracy
  MetricValues valid_metrics;  ///< of the job, as valid_accuracy
  double seconds = 0;          ///< of the mini-batches, without evaluation
  double evaluation_s = 0;
  schedule::EpochLog log;
  CacheUse cache;                             ///< of this epoch, since the cache was filled
  ReadCounts disk_reads;                      ///< of plans that read the disk
  std::optional<ReuseReport> reuse;           ///< of plans that reuse hot embeddings
  Staleness history;                          ///< of plans that reuse the embeddings of all vertices
  std::vector<schedule::StageSpan> timeline;  ///< of this epoch
};

struct TrainReport {
  std::vector<EpochReport> epochs;  ///< that this call trained; only the last one keeps its timeline
  /// Of the weights with the best validation metric (the first of the job's metrics), of equal ones those
  /// with the lowest validation loss; of the last weights without validation.
  double test_accuracy = 0;
  double valid_accuracy = 0;
  MetricValues test_metrics, valid_metrics;  ///< of the job
  /// Test accuracy of always predicting the training vertices' most frequent class.
  double test_majority = 0;
  std::int64_t best_epoch = 0;  ///< counted from 0
  /// The class that the same weights predict for each vertex; empty unless TrainOptions::predict.
  std::vector<std::int32_t> predictions;
  std::string weights_hash;  ///< of the final weights' bytes: equal hashes, equal bits
};

struct TrainOptions {
  plan::Job job{};
  plan::Plan plan{};       ///< resolved
  DeviceOptions device{};  ///< that trains
  /// The directory of checkpoint.pt, log.jsonl, order.jsonl and, at the end, weights.safetensors (of the best
  /// epoch), created if needed. Empty: nothing is written.
  std::filesystem::path run_directory{};
  /// Continue from run_directory's checkpoint if there is one. Otherwise an earlier run's files are removed.
  bool resume = false;
  /// Number of epochs between evaluations on the validation vertices; the last epoch is always evaluated. The
  /// best weights are those of an evaluated epoch. 0: no evaluation at all, not even on the test vertices;
  /// the last weights count as the best.
  std::int64_t evaluate_every = 1;
  bool predict = false;  ///< also fill TrainReport::predictions
  /// Maximum time between checkpoints. There is also one at the end of each epoch, unless epochs are so short
  /// that this would slow them down, and always one at the end of the training.
  double checkpoint_every_s = 30;
  /// The order of updates of each epoch, from order.jsonl (run_log.h); empty: the plan's own. A plan with
  /// order `as_ready` then runs as a pipeline in that order.
  std::vector<std::vector<std::int64_t>> replay{};
  HotRatioOptions hot_ratio{};  ///< of plans that reuse hot embeddings
  std::function<void(const EpochReport&)> on_epoch{};
  /// Called at the start of an epoch and after each stretch; returns the next stretch, of 1 to `left`
  /// batches, whose plan trains in the order of the indices. Empty: `plan` trains the whole epoch. Excludes
  /// `replay`.
  std::function<Stretch(std::int64_t left)> next_stretch{};
  std::function<void(const StretchReport&)> on_stretch{};
  base::Progress progress{};  ///< trained batches of the epoch; called on the device's thread
  /// When it becomes true (Ctrl-C), train() saves a checkpoint and throws base::Interrupted.
  const std::atomic<bool>* stop = nullptr;
  /// For tests: called at the start of each stage, on its thread, to delay or fail it.
  std::function<void(schedule::Stage, std::int64_t batch)> before_stage{};
};

/// Trains a model. Throws base::InputError for a graph that cannot be trained on, a plan that the device does
/// not execute, or a checkpoint of another job; base::Failure if a checkpoint cannot be written (the previous
/// one stays intact); base::Interrupted.
TrainReport train(const graph::Graph& graph, const TrainOptions& options);

}  // namespace gnomon::runtime
