#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

#include "graph/graph.h"
#include "nn/inference.h"
#include "nn/step_sums.h"
#include "nn/step_targets.h"
#include "plan/job.h"

/// Training and evaluation on multi-label graphs. The loss is the binary cross-entropy of each class's
/// probability, the mean over the classes (torch.nn.BCEWithLogitsLoss); a class is predicted if its
/// probability is above one half, that is, its logit above 0.
namespace gnomon::nn {

/// The mean loss over the seeds with respect to logits (seeds, classes; fp32) on the targets' device.
struct LabelSetsLoss {
  at::Tensor gradient;  ///< with respect to the logits
  StepMetrics metrics;  ///< a seed is correct if just its classes are predicted
};

/// On the host, bits do not depend on the number of threads.
LabelSetsLoss label_sets_loss(const at::Tensor& logits, const StepTargets& targets);

/// nn::measure() of a multi-label graph: accuracy is the share of vertices whose predicted classes are just
/// theirs; roc_auc the mean over the classes for which it is defined; f1_macro the mean over all classes, 0
/// for one that is neither among the labels nor predicted. The definitions are those of scikit-learn.
std::vector<double> measure_label_sets(const std::vector<plan::Metric>& metrics, const at::Tensor& logits,
                                       const graph::Graph& graph, std::span<const graph::VertexId> vertices);

/// nn::score() of a multi-label graph.
Score score_label_sets(const at::Tensor& logits, const graph::Graph& graph,
                       std::span<const graph::VertexId> vertices);

}  // namespace gnomon::nn
