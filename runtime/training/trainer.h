#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "plan/job.h"
#include "plan/plan.h"
#include "runtime/device_options.h"
#include "runtime/reuse/hot_ratio_options.h"
#include "runtime/training/stretch.h"
#include "runtime/training/train_report.h"
#include "schedule/timeline.h"

namespace gnomon::runtime {

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
