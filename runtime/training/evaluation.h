#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/progress.h"
#include "graph/graph.h"
#include "nn/predicted_classes.h"
#include "plan/job.h"
#include "runtime/device_options.h"
#include "runtime/training/metric_values.h"

namespace gnomon::runtime {

/// What evaluate() computes and where it writes.
struct EvaluationOptions {
  std::filesystem::path checkpoint;     ///< of the run
  std::filesystem::path weights{};      ///< a safetensors file; empty: the run's best epoch
  std::vector<plan::Metric> metrics{};  ///< empty: those of the job
  std::filesystem::path logits{};       ///< .npy (vertices, classes), fp32; empty: not written
  std::filesystem::path embeddings{};   ///< .npy (vertices, hidden), fp32: the last layer's inputs
  DeviceOptions device{};
  base::Progress progress{};
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: throws Interrupted
};

/// Evaluation of a model on the vertices of one split.
struct SplitEvaluation {
  std::int64_t vertices = 0;
  double loss = 0;      ///< mean cross-entropy; NaN without labelled vertices, as the others
  double majority = 0;  ///< accuracy of always predicting the training vertices' most frequent class
  MetricValues metrics;
};

struct Evaluation {
  plan::Job job;
  std::int64_t best_epoch = 0;  ///< of the run, counted from 0
  SplitEvaluation train, valid, test;
  nn::PredictedClasses predictions;  ///< of each vertex
};

/// Evaluates a run's model on a graph, that of the run or another, by layer-wise inference with all
/// neighbours. On the run's graph the metrics are those that the run reported. The rows of the .npy files are
/// the vertices in the order of their original ids. Throws base::InputError if the checkpoint or weights
/// cannot be read, the run has not finished an epoch, or the graph has other feature columns or more classes
/// than the model; base::Failure; base::Interrupted.
Evaluation evaluate(const graph::Graph& graph, const EvaluationOptions& options);

}  // namespace gnomon::runtime
