#include "runtime/training/evaluation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/stop.h"
#include "base/usable.h"
#include "graph/store/npy.h"
#include "nn/dense/chunks.h"
#include "nn/inference.h"
#include "nn/matmul_precision.h"
#include "nn/metrics.h"
#include "nn/safetensors.h"
#include "runtime/device.h"
#include "runtime/training/checkpoint.h"

namespace gnomon::runtime {
namespace {

void check_graph(const graph::Graph& graph, const RunState& run) {
  const auto refuse = [&](const std::string& what, std::int64_t has, std::int64_t wants) {
    throw base::InputError(graph.name + ": " + what,
                           "are " + std::to_string(has) + "; the run's model has " + std::to_string(wants));
  };
  if (graph.features.columns != run.graph.columns) {
    refuse("feature columns", graph.features.columns, run.graph.columns);
  }
  if (!graph.labels.empty() && graph.is_multilabel() != run.graph.multilabel) {
    throw base::InputError(graph.name + ": labels",
                           run.graph.multilabel ? "are one class per vertex; the run's are sets of classes"
                                                : "are sets of classes; the run's are one class per vertex");
  }
  const bool has_others =
      run.graph.multilabel && !graph.labels.empty() && graph.num_classes != run.graph.classes;
  if (graph.num_classes > run.graph.classes || has_others) {
    refuse("classes", graph.num_classes, run.graph.classes);
  }
}

/// The vertices by their original ids.
at::Tensor original_order(const graph::Graph& graph) {
  auto order = at::empty({graph.num_vertices()}, at::kLong);
  auto* vertices = order.mutable_data_ptr<std::int64_t>();
  std::iota(vertices, vertices + order.numel(), 0);
  std::sort(vertices, vertices + order.numel(), [&](graph::VertexId a, graph::VertexId b) {
    return graph.original_id(a) < graph.original_id(b);
  });
  return order;
}

void write_npy(const std::filesystem::path& path, const graph::Graph& graph, const at::Tensor& values) {
  if (path.empty()) {
    return;
  }
  const auto rows = (graph.original_ids.empty() ? values : values.index_select(0, original_order(graph)));
  const auto stored = rows.contiguous();
  const auto header = graph::format_npy_header(graph::DType::float32, stored.sizes().vec());
  base::AtomicFile file(path);
  file.write(header.data(), header.size());
  file.write(stored.const_data_ptr(), stored.nbytes());
  file.commit();
}

SplitEvaluation evaluate_split(const graph::Graph& graph, const at::Tensor& logits,
                               const std::vector<plan::Metric>& metrics,
                               std::span<const graph::VertexId> vertices) {
  SplitEvaluation split{std::ssize(vertices), std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::quiet_NaN(), undefined_metrics(metrics)};
  if (!graph.labels.empty()) {
    const auto rows = nn::rows_of_vertices(logits, vertices);
    split.loss = nn::score(rows, graph, vertices).loss;
    split.majority = nn::majority_accuracy(graph.labels, graph.train, vertices);
    split.metrics = with_names(metrics, nn::measure(metrics, rows, graph, vertices));
  }
  return split;
}

at::Tensor infer_all(const graph::Graph& graph, const nn::Model& model, const EvaluationOptions& options,
                     at::Tensor& embeddings) {
  const nn::AtenThreadsGuard threads(base::usable_cores());
  base::report(options.progress, "inference", 0, 0);
  nn::InferenceOptions inference;
  inference.between_chunks = [&] { base::check_stop(options.stop); };
  inference.embeddings =
      options.embeddings.empty() ? nullptr : &embeddings;  // only if requested, as they take memory
  return nn::infer(graph, model, inference);
}

}  // namespace

Evaluation evaluate(const graph::Graph& graph, const EvaluationOptions& options) {
  const auto run = read_run(options.checkpoint);
  check_graph(graph, run);
  if (!options.embeddings.empty() && run.job.layers() < 2) {
    throw base::InputError("embeddings", "a model of one layer has no hidden layer");
  }
  const nn::MatmulPrecisionGuard precision(run.job);
  const nn::Model model(run.job, run.graph.columns, run.graph.classes, tensor_device(options.device));
  if (options.weights.empty()) {
    nn::copy_values(run.best_weights, model.state());
  } else {
    nn::load_safetensors(options.weights, model);
  }
  at::Tensor embeddings;
  const auto logits = infer_all(graph, model, options, embeddings);
  write_npy(options.logits, graph, logits);
  write_npy(options.embeddings, graph, embeddings);
  const auto& metrics = options.metrics.empty() ? run.job.metrics : options.metrics;
  Evaluation evaluation{run.job,
                        run.best_epoch,
                        evaluate_split(graph, logits, metrics, graph.train),
                        evaluate_split(graph, logits, metrics, graph.valid),
                        evaluate_split(graph, logits, metrics, graph.test),
                        {}};
  evaluation.predictions = nn::predicted_classes(logits, run.graph.multilabel);
  return evaluation;
}

}  // namespace gnomon::runtime
