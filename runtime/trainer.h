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
#include "runtime/cache_use.h"
#include "runtime/device_options.h"
#include "runtime/stretch.h"
#include "schedule/epoch_log.h"
#include "schedule/timeline.h"

namespace gnomon::runtime {

struct EpochReport {
  std::int64_t epoch = 0;
  double loss = 0;            ///< mean over the epoch's training vertices
  double train_accuracy = 0;  ///< on the mini-batches as they were trained
  double valid_accuracy = 0;  ///< layer-wise full-neighbour inference; NaN without validation vertices
  double valid_loss = 0;      ///< as valid_accuracy
  double seconds = 0;         ///< mini-batches only, evaluation not included
  double evaluation_s = 0;
  schedule::EpochLog log;
  CacheUse cache;                             ///< of this epoch, from where the cache was filled on
  std::vector<schedule::StageSpan> timeline;  ///< of this epoch
};

struct TrainReport {
  std::vector<EpochReport> epochs;  ///< that this call trained; only the last one keeps its timeline
  double test_accuracy = 0;  ///< of the weights with the best validation accuracy, of equals those with the
                             ///< least validation loss (the last ones without validation)
  double valid_accuracy = 0;
  std::int64_t best_epoch = 0;
  /// The class that the same weights give each vertex; empty unless asked for.
  std::vector<std::int32_t> predictions;
  std::string weights_hash;  ///< of the final weights' bytes: equal hashes, equal bits
};

struct TrainOptions {
  plan::Job job{};
  plan::Plan plan{};       ///< resolved
  DeviceOptions device{};  ///< what it trains on
  /// Where checkpoint.pt, log.jsonl and order.jsonl go; created; empty: nothing is written.
  std::filesystem::path run_directory{};
  /// Go on from run_directory's checkpoint when there is one; otherwise what an earlier run left there goes.
  bool resume = false;
  bool predict = false;            ///< also fill TrainReport::predictions
  double checkpoint_every_s = 30;  ///< also within an epoch; an epoch's end always is one
  /// The update order of each epoch, from order.jsonl (run_log.h); empty: the plan's own. A plan that trains
  /// as batches become ready is then run as a pipeline in that order.
  std::vector<std::vector<std::int64_t>> replay{};
  std::function<void(const EpochReport&)> on_epoch{};
  /// Asked at the start of an epoch and after each stretch for the next one, of 1 to `left` batches; when not
  /// given, the rest of the epoch is trained by `plan`. Its plans train in the order of the indices. Not
  /// together with `replay`.
  std::function<Stretch(std::int64_t left)> next_stretch{};
  std::function<void(const StretchReport&)> on_stretch{};
  base::Progress progress{};  ///< batches trained of the epoch's; called on the device thread
  /// Set from outside (Ctrl-C): saves a checkpoint, throws base::Interrupted.
  const std::atomic<bool>* stop = nullptr;
  /// Test seam: called at the start of each stage, on its thread (delays, faults).
  std::function<void(schedule::Stage, std::int64_t batch)> before_stage{};
};

/// Trains; see TrainOptions. Throws InputError for a graph that cannot be trained on or a checkpoint of
/// another job, base::Failure when a checkpoint cannot be written (the previous one is intact),
/// base::Interrupted.
TrainReport train(const graph::Graph& graph, const TrainOptions& options);

}  // namespace gnomon::runtime
