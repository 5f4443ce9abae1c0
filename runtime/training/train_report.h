#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nn/predicted_classes.h"
#include "runtime/cache/cache_use.h"
#include "runtime/disk/block_reader.h"
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
  nn::PredictedClasses predictions;
  std::string weights_hash;  ///< of the final weights' bytes: equal hashes, equal bits
};

/// Appends a stretch to its epoch, whose clock is stopped between stretches.
void append(EpochReport& epoch, const StretchReport& stretch);

}  // namespace gnomon::runtime
