#include "nn/metrics.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "nn/class_counts.h"
#include "nn/label_sets.h"

namespace gnomon::nn {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

std::int32_t label_of(std::span<const std::int32_t> labels, graph::VertexId vertex) {
  return labels[static_cast<std::size_t>(vertex)];
}

/// The labelled ones of `vertices`.
std::vector<graph::VertexId> labelled(std::span<const std::int32_t> labels,
                                      std::span<const graph::VertexId> vertices) {
  std::vector<graph::VertexId> kept;
  std::copy_if(vertices.begin(), vertices.end(), std::back_inserter(kept),
               [&](graph::VertexId vertex) { return label_of(labels, vertex) >= 0; });
  return kept;
}

/// The logits of labelled vertices, and their labels.
struct Labelled {
  at::Tensor logits;
  std::vector<std::int32_t> labels;
};

Labelled labelled_rows(const at::Tensor& logits, std::span<const std::int32_t> labels,
                       std::span<const graph::VertexId> vertices) {
  Labelled rows;
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (const auto label = label_of(labels, vertices[i]); label >= 0) {
      kept.push_back(static_cast<std::int64_t>(i));
      rows.labels.push_back(label);
    }
  }
  rows.logits = logits.index_select(0, at::from_blob(kept.data(), {std::ssize(kept)}, at::kLong));
  return rows;
}

std::vector<ClassCounts> counts_of(const Labelled& rows) {
  const auto predicted = rows.logits.argmax(1);
  const auto* classes = predicted.const_data_ptr<std::int64_t>();
  std::vector<ClassCounts> counts(static_cast<std::size_t>(rows.logits.size(1)));
  for (std::size_t row = 0; row < rows.labels.size(); ++row) {
    const auto label = static_cast<std::size_t>(rows.labels[row]);
    const auto found = static_cast<std::size_t>(classes[row]);
    if (found == label) {
      ++counts[label].true_positives;
    } else {
      ++counts[found].false_positives;
      ++counts[label].false_negatives;
    }
  }
  return counts;
}

double macro(const std::vector<ClassCounts>& counts) {
  std::vector<double> scores;
  std::transform(counts.begin(), counts.end(), std::back_inserter(scores),
                 [](const ClassCounts& each) { return each.f1(); });
  return mean_of_defined(scores);
}

double accuracy(const std::vector<ClassCounts>& counts, std::size_t vertices) {
  const auto hits =
      std::accumulate(counts.begin(), counts.end(), std::int64_t{0},
                      [](std::int64_t sum, const ClassCounts& each) { return sum + each.true_positives; });
  return quotient(static_cast<double>(hits), static_cast<double>(vertices));
}

/// ROC AUC of class `positive` against the rest, by column `column` of `scores` (fp64).
double one_against_rest(const at::Tensor& scores, std::int64_t column, std::int32_t positive,
                        const std::vector<std::int32_t>& labels) {
  const auto values = scores.accessor<double, 2>();
  std::vector<double> of_vertices;
  std::vector<bool> is_positive;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    of_vertices.push_back(values[static_cast<std::int64_t>(row)][column]);
    is_positive.push_back(labels[row] == positive);
  }
  return roc_auc(of_vertices, is_positive);
}

double roc_auc_of(const Labelled& rows) {
  const auto wide = rows.logits.to(at::kDouble);
  if (wide.size(1) == 2) {
    return one_against_rest(wide.diff(1, 1), 0, 1, rows.labels);
  }
  // The logarithm of a probability orders as the probability and does not saturate.
  const auto scores = wide.log_softmax(1);
  std::vector<double> areas;
  for (std::int64_t column = 0; column < scores.size(1); ++column) {
    areas.push_back(one_against_rest(scores, column, static_cast<std::int32_t>(column), rows.labels));
  }
  return mean_of_defined(areas);
}

double value_of(plan::Metric metric, const Labelled& known) {
  switch (metric) {
    case plan::Metric::accuracy:
      break;
    case plan::Metric::roc_auc:
      return roc_auc_of(known);
    case plan::Metric::f1_micro:
      return micro_f1(counts_of(known));
    case plan::Metric::f1_macro:
      return macro(counts_of(known));
  }
  return accuracy(counts_of(known), known.labels.size());
}

}  // namespace

double mean_of_defined(const std::vector<double>& values) {
  double sum = 0;
  double count = 0;
  for (const double value : values) {
    if (!std::isnan(value)) {
      sum += value;
      ++count;
    }
  }
  return quotient(sum, count);
}

double micro_f1(const std::vector<ClassCounts>& counts) {
  ClassCounts all;
  for (const auto& each : counts) {
    all.true_positives += each.true_positives;
    all.false_positives += each.false_positives;
    all.false_negatives += each.false_negatives;
  }
  return all.f1();
}

double roc_auc(std::span<const double> scores, const std::vector<bool>& is_positive) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  double negatives_below = 0;
  double positives = 0;
  double area = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    double tied_positives = 0;
    double tied_negatives = 0;
    std::size_t end = begin;
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end) {
      (is_positive[order[end]] ? tied_positives : tied_negatives) += 1;
    }
    if (end == begin) {
      return undefined;  // a score of NaN
    }
    area += tied_positives * (negatives_below + tied_negatives / 2);
    negatives_below += tied_negatives;
    positives += tied_positives;
    begin = end;
  }
  return quotient(area, positives * negatives_below);
}

double measure(plan::Metric metric, const at::Tensor& logits, std::span<const std::int32_t> labels,
               std::span<const graph::VertexId> vertices) {
  return measure(std::vector{metric}, logits, labels, vertices).front();
}

std::vector<double> measure(const std::vector<plan::Metric>& metrics, const at::Tensor& logits,
                            std::span<const std::int32_t> labels, std::span<const graph::VertexId> vertices) {
  const at::NoGradGuard no_grad;
  const auto known = labelled_rows(logits, labels, vertices);
  std::vector<double> values;
  std::transform(metrics.begin(), metrics.end(), std::back_inserter(values),
                 [&](plan::Metric metric) { return value_of(metric, known); });
  return values;
}

std::vector<double> measure(const std::vector<plan::Metric>& metrics, const at::Tensor& logits,
                            const graph::Graph& graph, std::span<const graph::VertexId> vertices) {
  return graph.is_multilabel() ? measure_label_sets(metrics, logits, graph, vertices)
                               : measure(metrics, logits, graph.labels, vertices);
}

double majority_accuracy(std::span<const std::int32_t> labels, std::span<const graph::VertexId> train,
                         std::span<const graph::VertexId> vertices) {
  std::vector<std::int64_t> counts;
  for (const auto vertex : labelled(labels, train)) {
    const auto label = static_cast<std::size_t>(label_of(labels, vertex));
    counts.resize(std::max(counts.size(), label + 1));
    ++counts[label];
  }
  const auto majority = std::max_element(counts.begin(), counts.end()) - counts.begin();
  const auto known = labelled(labels, vertices);
  const auto hits = std::count_if(known.begin(), known.end(), [&](graph::VertexId vertex) {
    return label_of(labels, vertex) == majority;
  });
  return quotient(static_cast<double>(hits), static_cast<double>(known.size()));
}

}  // namespace gnomon::nn
