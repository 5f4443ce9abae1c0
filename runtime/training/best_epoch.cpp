#include "runtime/training/best_epoch.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace gnomon::runtime {
namespace {

std::optional<double> if_defined(double value) {
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

bool is_better(const EpochReport& report, const RunState& state) {
  const double judged = report.valid_metrics.front().value;
  const double best = *state.best_judged();
  if (judged != best) {
    return judged > best;
  }
  return std::isfinite(report.valid_loss) &&
         (!state.best_valid_loss || report.valid_loss < *state.best_valid_loss);
}

}  // namespace

std::vector<at::Tensor> copies_of(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const auto& tensor : tensors) {
    copies.push_back(tensor.detach().clone());
  }
  return copies;
}

void judge(const EpochReport& report, const nn::Model& model, RunState& state) {
  const bool is_judged = !std::isnan(report.valid_metrics.front().value);
  if (is_judged && state.best_judged() && !is_better(report, state)) {
    state.epochs_since_best = state.epoch - state.best_epoch;
    return;
  }
  state.best_weights = copies_of(model.state());
  state.best_epoch = state.epoch;
  state.epochs_since_best = 0;
  state.best_valid = if_defined(report.valid_accuracy);
  state.best_metrics.clear();
  std::transform(report.valid_metrics.begin(), report.valid_metrics.end(),
                 std::back_inserter(state.best_metrics),
                 [](const MetricValue& metric) { return if_defined(metric.value); });
  state.best_valid_loss = std::isfinite(report.valid_loss) ? std::optional(report.valid_loss) : std::nullopt;
}

void report_best(const RunState& state, TrainReport& report) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  report.best_epoch = state.best_epoch;
  report.valid_accuracy = state.best_valid.value_or(nan);
  report.valid_metrics = undefined_metrics(state.job.metrics);
  report.valid_metrics.front().value = state.best_judged().value_or(nan);
  for (std::size_t i = 0; i < state.best_metrics.size(); ++i) {
    report.valid_metrics[i].value = state.best_metrics[i].value_or(nan);
  }
}

}  // namespace gnomon::runtime
