#include "runtime/training/epoch_evaluation.h"

#include <chrono>
#include <limits>
#include <memory>
#include <utility>

#include "base/usable.h"
#include "nn/dense/chunks.h"
#include "nn/inference.h"
#include "nn/metrics.h"
#include "runtime/training/best_epoch.h"

namespace gnomon::runtime {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

EpochEvaluation::EpochEvaluation(const graph::Graph& graph, const TrainOptions& options,
                                 std::function<void()> between_chunks)
    : graph_(graph), options_(options), between_chunks_(std::move(between_chunks)) {}

bool EpochEvaluation::is_due(std::int64_t epoch) const {
  const auto every = options_.evaluate_every;
  return !graph_.valid.empty() && every > 0 && ((epoch + 1) % every == 0 || epoch + 1 == options_.job.epochs);
}

bool EpochEvaluation::is_skipped(std::int64_t epoch) const {
  return options_.evaluate_every > 0 && !graph_.valid.empty() && !is_due(epoch);
}

at::Tensor EpochEvaluation::infer(const nn::Model& model, std::span<const graph::VertexId> vertices,
                                  std::vector<at::Tensor>* hidden) const {
  const nn::AtenThreadsGuard threads(base::usable_cores());  // training waits
  nn::InferenceOptions inference{.vertices = vertices};
  inference.hidden = hidden;
  inference.between_chunks = between_chunks_;
  return nn::infer(graph_, model, inference);
}

MetricValues EpochEvaluation::measure(const at::Tensor& logits,
                                      std::span<const graph::VertexId> vertices) const {
  const auto& metrics = options_.job.metrics;
  return with_names(metrics, nn::measure(metrics, logits, graph_, vertices));
}

void EpochEvaluation::evaluate(const nn::Model& model, EpochReport& report) const {
  const auto begin = std::chrono::steady_clock::now();
  report.valid_accuracy = report.valid_loss = nan;
  report.valid_metrics = undefined_metrics(options_.job.metrics);
  if (is_due(report.epoch)) {
    const auto logits = infer(model, graph_.valid);
    const auto [accuracy, loss] = nn::score(logits, graph_, graph_.valid);
    report.valid_accuracy = accuracy;
    report.valid_loss = loss;
    report.valid_metrics = measure(logits, graph_.valid);
  }
  report.evaluation_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void EpochEvaluation::test(const nn::Model& model, const std::vector<at::Tensor>& best_weights,
                           TrainReport& report) const {
  report.test_accuracy = nan;
  report.test_metrics = undefined_metrics(options_.job.metrics);
  report.test_majority = nn::majority_accuracy(graph_.labels, graph_.train, graph_.test);
  if ((graph_.test.empty() || options_.evaluate_every == 0) && !options_.predict) {
    return;
  }
  const auto weights = model.state();
  const auto last_weights = copies_of(weights);
  nn::copy_values(best_weights, weights);
  const auto restore = std::shared_ptr<void>(nullptr, [&](void*) { nn::copy_values(last_weights, weights); });
  auto logits = infer(model, options_.predict ? std::span<const graph::VertexId>() : graph_.test);
  if (options_.predict) {
    report.predictions = nn::predicted_classes(logits, graph_.is_multilabel());
    logits = nn::rows_of_vertices(logits, graph_.test);
  }
  report.test_accuracy = nn::score(logits, graph_, graph_.test).accuracy;
  report.test_metrics = measure(logits, graph_.test);
}

}  // namespace gnomon::runtime
