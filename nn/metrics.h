#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "plan/job.h"

/// Metrics of predicted classes. They count the vertices with a known label (0 or more) only, and are NaN
/// where they are undefined, as without any such vertex.
namespace gnomon::nn {

/// Returns the area under the ROC curve: the probability that a positive item has a higher score than a
/// negative one, where equal scores count one half. NaN unless there are positive and negative items.
/// O(n log n).
double roc_auc(std::span<const double> scores, const std::vector<bool>& is_positive);

/// Returns one metric of `logits` (vertices, classes; fp32, on the CPU), whose row i is that of vertices[i].
/// The predicted class is that of the largest logit.
/// - accuracy: the share of correct predictions.
/// - roc_auc: for two classes that of the logits' difference; for more, the mean over the classes of one
///   class against the rest by its probability, without the classes for which it is undefined.
/// - f1_micro: 2 TP / (2 TP + FP + FN) with the counts of all classes together.
/// - f1_macro: the mean of 2 TP / (2 TP + FP + FN) over the classes that occur among labels or predictions.
/// The definitions are those of scikit-learn.
double measure(plan::Metric metric, const at::Tensor& logits, std::span<const std::int32_t> labels,
               std::span<const graph::VertexId> vertices);

/// Returns measure() of each metric.
std::vector<double> measure(const std::vector<plan::Metric>& metrics, const at::Tensor& logits,
                            std::span<const std::int32_t> labels, std::span<const graph::VertexId> vertices);

/// Returns measure() of each metric, of a graph of either kind: measure_label_sets() if it is multi-label.
std::vector<double> measure(const std::vector<plan::Metric>& metrics, const at::Tensor& logits,
                            const graph::Graph& graph, std::span<const graph::VertexId> vertices);

/// Returns the accuracy on `vertices` of always predicting the label (class, or set of classes) that is most
/// frequent among the training vertices (of equally frequent ones the first): the baseline that needs no
/// model.
double majority_accuracy(std::span<const std::int32_t> labels, std::span<const graph::VertexId> train,
                         std::span<const graph::VertexId> vertices);

}  // namespace gnomon::nn
