#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "nn/models.h"
#include "runtime/training/trainer.h"

namespace gnomon::runtime {

/// The evaluations of a training: by layer-wise full-neighbour inference, on the threads of workers and
/// device, as the workers have nothing to do meanwhile.
class EpochEvaluation {
 public:
  /// The graph and the options must outlive it. `between_chunks` is called on the calling thread between
  /// parts of an inference; it may throw to end it.
  EpochEvaluation(const graph::Graph& graph, const TrainOptions& options,
                  std::function<void()> between_chunks);

  /// Whether the epoch (counted from 0) is evaluated: each `evaluate_every`-th one, and the last.
  bool is_due(std::int64_t epoch) const;
  /// Whether the epoch's weights are judged by a later evaluation.
  bool is_skipped(std::int64_t epoch) const;
  /// The logits of these vertices, or of all if there are none, on all cores, and the outputs of hidden
  /// layers if `hidden` is not null.
  at::Tensor infer(const nn::Model& model, std::span<const graph::VertexId> vertices,
                   std::vector<at::Tensor>* hidden = nullptr) const;
  /// Fills the report's validation results (NaN unless the epoch is due) and the evaluation's time.
  void evaluate(const nn::Model& model, EpochReport& report) const;
  /// Fills the report's test results and, if requested, its predictions, if the run evaluates at all. The
  /// model has the best weights meanwhile, and its own again afterwards.
  void test(const nn::Model& model, const std::vector<at::Tensor>& best_weights, TrainReport& report) const;

 private:
  MetricValues measure(const at::Tensor& logits, std::span<const graph::VertexId> vertices) const;

  const graph::Graph& graph_;
  const TrainOptions& options_;
  std::function<void()> between_chunks_;
};

}  // namespace gnomon::runtime
