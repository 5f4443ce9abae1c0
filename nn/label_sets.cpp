#include "nn/label_sets.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/device/label_sets_loss.h"
#include "nn/class_counts.h"
#include "nn/cuda/kernels.h"
#include "nn/dense/chunks.h"
#include "nn/metrics.h"

namespace gnomon::nn {
namespace {

using graph::VertexId;
using kernels::device::binary_cross_entropy;
using kernels::device::binary_cross_entropy_gradient;
using kernels::device::falling_exp;
using kernels::device::is_predicted_as;

/// The loss of one row, the mean over the classes, and whether its set is predicted.
struct RowLoss {
  double loss = 0;
  bool is_correct = true;
};

/// A row of logits and what it is compared with.
struct LabelledRow {
  const float* logits;
  const std::uint8_t* set;
};

/// Also writes the loss's derivatives times `scale` to `gradient`, unless that is null.
RowLoss loss_of_row(const LabelledRow& row, std::int64_t classes, float* gradient = nullptr,
                    float scale = 1) {
  RowLoss result;
  for (std::int64_t c = 0; c < classes; ++c) {
    const float logit = row.logits[c];
    const float falling = falling_exp(logit);
    result.loss += static_cast<double>(binary_cross_entropy(logit, falling, row.set[c]));
    result.is_correct &= is_predicted_as(logit, row.set[c]);
    if (gradient != nullptr) {
      gradient[c] = binary_cross_entropy_gradient(logit, falling, row.set[c]) * scale;
    }
  }
  result.loss /= static_cast<double>(classes);
  return result;
}

StepMetrics metrics_of(const std::vector<RowLoss>& losses) {
  double sum = 0;
  std::int64_t correct = 0;
  for (const auto& row : losses) {
    sum += row.loss;
    correct += row.is_correct ? 1 : 0;
  }
  const auto seeds = std::ssize(losses);
  return {at::scalar_tensor(sum / static_cast<double>(seeds), at::kDouble),
          at::scalar_tensor(correct, at::kLong), seeds};
}

LabelSetsLoss loss_on_host(const at::Tensor& logits, const StepTargets& targets) {
  const auto rows = logits.contiguous();
  const std::int64_t classes = rows.size(1);
  auto gradient = at::empty_like(rows);
  const auto* from = rows.const_data_ptr<float>();
  const auto* labels = targets.labels.const_data_ptr<std::int64_t>();
  const auto* sets = targets.label_sets.const_data_ptr<std::uint8_t>();
  auto* to = gradient.mutable_data_ptr<float>();
  std::vector<RowLoss> losses(static_cast<std::size_t>(rows.size(0)));
  const float scale = 1 / (static_cast<float>(losses.size()) * static_cast<float>(classes));
  const std::int64_t rows_per_chunk = std::max<std::int64_t>(1, elements_per_chunk / (8 * classes));
  for_each_chunk(rows.size(0), rows_per_chunk, [&](std::int64_t begin, std::int64_t length) {
    for (std::int64_t seed = begin; seed < begin + length; ++seed) {
      const LabelledRow row{from + seed * classes, sets + labels[seed] * classes};
      losses[static_cast<std::size_t>(seed)] = loss_of_row(row, classes, to + seed * classes, scale);
    }
  });
  return {gradient, metrics_of(losses)};
}

LabelSetsLoss loss_on_device(const at::Tensor& logits, const StepTargets& targets) {
  const std::int64_t seeds = logits.size(0);
  const auto correct = at::zeros({1}, targets.labels.options());
  const auto losses = at::zeros({seeds}, targets.labels.options().dtype(at::kDouble));
  auto gradient = cuda_cross_entropy(logits.contiguous(), targets, losses, correct);
  return {std::move(gradient), {losses.mean(), correct[0], seeds}};
}

/// Calls visit(logits, set) with the row of each labelled vertex.
template <class Visit>
void for_each_labelled(const at::Tensor& logits, const graph::Graph& graph,
                       std::span<const VertexId> vertices, const Visit& visit) {
  const auto rows = logits.contiguous();
  const auto* first = rows.const_data_ptr<float>();
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    const std::int64_t label = graph.labels[static_cast<std::size_t>(vertices[i])];
    if (label >= 0) {
      visit(first + static_cast<std::int64_t>(i) * graph.num_classes,
            graph.label_sets.data() + label * graph.num_classes);
    }
  }
}

/// The predictions of each class, and of whole sets.
struct SetCounts {
  std::vector<ClassCounts> classes;
  std::int64_t vertices = 0;
  std::int64_t correct = 0;
};

SetCounts counts_of(const at::Tensor& logits, const graph::Graph& graph, std::span<const VertexId> vertices) {
  SetCounts counts{std::vector<ClassCounts>(static_cast<std::size_t>(graph.num_classes))};
  for_each_labelled(logits, graph, vertices, [&](const float* row, const std::uint8_t* set) {
    bool is_correct = true;
    for (std::size_t c = 0; c < counts.classes.size(); ++c) {
      auto& of_class = counts.classes[c];
      const bool found = row[c] > 0;
      const bool wanted = set[c] != 0;
      of_class.true_positives += found && wanted ? 1 : 0;
      of_class.false_positives += found && !wanted ? 1 : 0;
      of_class.false_negatives += !found && wanted ? 1 : 0;
      is_correct &= is_predicted_as(row[c], set[c]);
    }
    ++counts.vertices;
    counts.correct += is_correct ? 1 : 0;
  });
  return counts;
}

double macro_f1(const SetCounts& counts) {
  const auto sum = std::accumulate(counts.classes.begin(), counts.classes.end(), 0.0,
                                   [](double all, const ClassCounts& each) {
                                     const double f1 = each.f1();
                                     return all + (std::isnan(f1) ? 0 : f1);
                                   });
  return counts.vertices == 0 ? std::numeric_limits<double>::quiet_NaN()
                              : sum / static_cast<double>(counts.classes.size());
}

double mean_roc_auc(const at::Tensor& logits, const graph::Graph& graph, std::span<const VertexId> vertices) {
  std::vector<double> areas;
  std::vector<double> scores;
  std::vector<bool> has_class;
  for (std::int32_t c = 0; c < graph.num_classes; ++c) {
    scores.clear();
    has_class.clear();
    for_each_labelled(logits, graph, vertices, [&](const float* row, const std::uint8_t* set) {
      scores.push_back(static_cast<double>(row[c]));
      has_class.push_back(set[c] != 0);
    });
    areas.push_back(roc_auc(scores, has_class));
  }
  return mean_of_defined(areas);
}

}  // namespace

at::Tensor label_sets_of(const graph::Graph& graph, at::Device device) {
  if (!graph.is_multilabel()) {
    return {};
  }
  const std::vector<std::int64_t> shape{graph.num_label_values(), graph.num_classes};
  // at::from_blob takes no memory that must not be written; nobody writes label sets.
  return at::from_blob(const_cast<std::uint8_t*>(graph.label_sets.data()), shape, at::kByte).to(device);
}

LabelSetsLoss label_sets_loss(const at::Tensor& logits, const StepTargets& targets) {
  const at::NoGradGuard no_grad;
  return logits.is_cpu() ? loss_on_host(logits, targets) : loss_on_device(logits, targets);
}

std::vector<double> measure_label_sets(const std::vector<plan::Metric>& metrics, const at::Tensor& logits,
                                       const graph::Graph& graph, std::span<const VertexId> vertices) {
  const auto counts = counts_of(logits, graph, vertices);
  std::vector<double> values;
  for (const auto metric : metrics) {
    switch (metric) {
      case plan::Metric::accuracy:
        values.push_back(quotient(static_cast<double>(counts.correct), static_cast<double>(counts.vertices)));
        break;
      case plan::Metric::roc_auc:
        values.push_back(mean_roc_auc(logits, graph, vertices));
        break;
      case plan::Metric::f1_micro:
        values.push_back(micro_f1(counts.classes));
        break;
      case plan::Metric::f1_macro:
        values.push_back(macro_f1(counts));
        break;
    }
  }
  return values;
}

Score score_label_sets(const at::Tensor& logits, const graph::Graph& graph,
                       std::span<const VertexId> vertices) {
  double loss = 0;
  std::int64_t correct = 0;
  std::int64_t counted = 0;
  for_each_labelled(logits, graph, vertices, [&](const float* row, const std::uint8_t* set) {
    const auto of_row = loss_of_row({row, set}, graph.num_classes);
    loss += of_row.loss;
    correct += of_row.is_correct ? 1 : 0;
    ++counted;
  });
  const auto all = static_cast<double>(counted);
  return {quotient(static_cast<double>(correct), all), quotient(loss, all)};
}

}  // namespace gnomon::nn
